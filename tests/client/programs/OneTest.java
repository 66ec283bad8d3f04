import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import org.junit.runner.JUnitCore;
import org.junit.runner.Request;
import org.junit.runner.Result;
import org.junit.runner.notification.Failure;

/** Runs one test of a class by JUnit: OneTest CLASS METHOD. Says what it has mapped; ends though threads of the test are left. */
public class OneTest {
    public static void main(String[] words) throws Exception {
        Result result = new JUnitCore().run(Request.method(Class.forName(words[0]), words[1]));
        for (Failure failure : result.getFailures()) {
            System.out.println(failure.getMessage() + "\n"
                + failure.getTrace().lines().filter(line -> line.contains(words[0])).collect(Collectors.joining("\n")));
        }
        Files.lines(Path.of("/proc/self/maps")).filter(line -> line.matches(".*/libuc[ptsm][^/]*\\.so[^/]*"))
            .map(line -> line.substring(line.indexOf('/'))).distinct()
            .forEach(path -> System.out.println("library " + ProcessHandle.current().pid() + " " + path));
        System.out.println(result.getRunCount() + " run, " + result.getFailureCount() + " failed");
        System.exit(result.wasSuccessful() ? 0 : 1);
    }
}
