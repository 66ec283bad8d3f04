//! A text table with cells that may span columns, as `ucx_info -T` draws it.
#![forbid(unsafe_code)]

/// Where a cell's text stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Align {
    Left,
    Right,
    Center,
}

struct Cell {
    span: usize,
    align: Align,
    text: String,
}

enum Line {
    Row(Vec<Cell>),
    Separator,
}

/// Between the texts of two columns: a blank, the bar, a blank.
const GAP: usize = 3;

pub struct Table {
    columns: usize,
    prefix: String,
    equal_widths: bool,
    lines: Vec<Line>,
}

impl Table {
    pub fn new(columns: usize, prefix: String, equal_widths: bool) -> Table {
        Table {
            columns,
            prefix,
            equal_widths,
            lines: Vec::new(),
        }
    }

    /// Starts a row; its handle.
    pub fn add_row(&mut self) -> usize {
        self.lines.push(Line::Row(Vec::new()));
        self.lines.len() - 1
    }

    pub fn add_separator(&mut self) {
        self.lines.push(Line::Separator);
    }

    /// Adds a cell behind the row's last. `false` when there is no such row or the cell goes past
    /// the last column.
    pub fn add_cell(&mut self, row: usize, span: usize, align: Align, text: String) -> bool {
        let columns = self.columns;
        let Some(Line::Row(cells)) = self.lines.get_mut(row) else {
            return false;
        };
        let used: usize = cells.iter().map(|c| c.span).sum();
        if span == 0 || span > columns - used {
            return false;
        }
        cells.push(Cell { span, align, text });
        true
    }

    pub fn render(&self) -> String {
        let widths = self.widths();
        let mut out = String::new();
        self.render_separator(&widths, &mut out);
        for line in &self.lines {
            match line {
                Line::Separator => self.render_separator(&widths, &mut out),
                Line::Row(cells) => self.render_row(cells, &widths, &mut out),
            }
        }
        if !matches!(self.lines.last(), Some(Line::Separator)) {
            self.render_separator(&widths, &mut out);
        }
        out
    }

    /// Columns are as wide as their own cells; a spanning cell that needs more widens its last.
    fn widths(&self) -> Vec<usize> {
        let mut widths = vec![0; self.columns];
        for spanning in [false, true] {
            for line in &self.lines {
                let Line::Row(cells) = line else { continue };
                let mut first = 0;
                for cell in cells {
                    let end = first + cell.span;
                    let (have, need) = (width(&widths[first..end]), cell.text.chars().count());
                    if (cell.span > 1) == spanning && need > have {
                        widths[end - 1] += need - have;
                    }
                    first = end;
                }
            }
        }
        if self.equal_widths {
            let widest = widths.iter().copied().max().unwrap_or(0);
            widths.fill(widest);
        }
        widths
    }

    fn render_separator(&self, widths: &[usize], out: &mut String) {
        out.push_str(&self.prefix);
        for width in widths {
            out.push('+');
            out.push_str(&"-".repeat(width + GAP - 1));
        }
        out.push_str("+\n");
    }

    fn render_row(&self, cells: &[Cell], widths: &[usize], out: &mut String) {
        out.push_str(&self.prefix);
        let mut first = 0;
        for cell in cells {
            let width = width(&widths[first..first + cell.span]);
            let text = &cell.text;
            out.push_str(&match cell.align {
                Align::Left => format!("| {text:<width$} "),
                Align::Right => format!("| {text:>width$} "),
                Align::Center => format!("| {text:^width$} "),
            });
            first += cell.span;
        }
        out.push_str("|\n");
    }
}

fn width(columns: &[usize]) -> usize {
    columns.iter().sum::<usize>() + GAP * columns.len().saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spanning_cells_and_alignment() {
        let mut t = Table::new(3, "# ".into(), false);
        assert_eq!(t.render(), "# +--+--+--+\n# +--+--+--+\n");
        let r = t.add_row();
        assert!(t.add_cell(r, 1, Align::Left, "left".into()));
        assert!(t.add_cell(r, 1, Align::Right, "5".into()));
        assert!(t.add_cell(r, 1, Align::Center, "c".into()));
        assert!(!t.add_cell(r, 1, Align::Center, "too many".into()));
        t.add_separator();
        let r = t.add_row();
        assert!(t.add_cell(r, 2, Align::Center, "a long spanning cell".into()));
        assert!(t.add_cell(r, 1, Align::Left, String::new()));
        assert!(!t.add_cell(99, 1, Align::Left, String::new()));
        let expect = "\
# +------+---------------+---+
# | left |             5 | c |
# +------+---------------+---+
# | a long spanning cell |   |
# +------+---------------+---+
";
        assert_eq!(t.render(), expect);
    }
}
