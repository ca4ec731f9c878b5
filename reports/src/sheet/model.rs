use super::{Compare, Plot};

/// How something is to be taken. Each has a symbol, so that nothing depends on colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tone {
    /// As it should be.
    Good,
    /// Not as it should be.
    Bad,
    /// Nothing can be said.
    Doubt,
    /// Neither.
    #[default]
    Plain,
}

impl Tone {
    pub(super) fn symbol(self) -> &'static str {
        match self {
            Self::Good => "✓",
            Self::Bad => "✗",
            Self::Doubt => "?",
            Self::Plain => "·",
        }
    }

    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Good => "pass",
            Self::Bad => "fail",
            Self::Doubt => "inconclusive",
            Self::Plain => "none",
        }
    }
}

/// A page. Texts may have code between backticks.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sheet {
    /// What the page is about: `onejob prove`.
    pub title: String,
    /// How it came out.
    pub tone: Tone,
    /// How it came out, in a word: `2 survivors`.
    pub word: String,
    /// How it came out, in a sentence.
    pub summary: String,
    /// What it was done with: versions, seeds, durations.
    pub facts: Vec<Fact>,
    /// The rest, in order.
    pub sections: Vec<Section>,
}

/// A name and a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// The name.
    pub name: String,
    /// The value.
    pub value: String,
}

/// A part of the page with a heading.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Section {
    /// The heading.
    pub heading: String,
    /// What stands below it.
    pub blocks: Vec<Block>,
}

/// Something on the page.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// A paragraph.
    Prose(String),
    /// A paragraph that must not be overlooked.
    Warning(String),
    /// A command to copy, or any text that keeps its lines.
    Command(String),
    /// A table.
    Table(Table),
    /// A table of symbols: what came of each row with each column.
    Grid(Grid),
    /// A plot.
    Plot(Plot),
    /// Two texts, line by line.
    Compare(Compare),
    /// Blocks that are shown when asked for.
    Fold {
        /// What is asked for.
        summary: String,
        /// What is shown then.
        blocks: Vec<Block>,
    },
}

/// A table.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Table {
    /// What it shows.
    pub caption: String,
    /// Names of the columns. The first column names the rows.
    pub head: Vec<String>,
    /// The rows, each as long as the head.
    pub rows: Vec<Vec<Entry>>,
}

/// What stands in a table's cell.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Entry {
    /// The text.
    pub text: String,
    /// How it is to be taken.
    pub tone: Tone,
}

/// What came of each row with each column.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Grid {
    /// What it shows.
    pub caption: String,
    /// What a row is: `defect`.
    pub row_title: String,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<GridRow>,
}

/// A row of a grid.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GridRow {
    /// Its name.
    pub name: String,
    /// How the row came out as a whole.
    pub tone: Tone,
    /// A sentence about it.
    pub note: String,
    /// One for each column.
    pub squares: Vec<Square>,
}

/// What came of one row with one column.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Square {
    /// How it is to be taken.
    pub tone: Tone,
    /// In a word: `killed`; empty where it was not tried.
    pub word: String,
    /// In a sentence; may be empty.
    pub detail: String,
}

impl Sheet {
    /// A page with nothing below its head.
    pub fn new(
        title: impl Into<String>,
        tone: Tone,
        word: impl Into<String>,
        summary: impl Into<String>,
    ) -> Self {
        Self { title: title.into(), tone, word: word.into(), summary: summary.into(), ..Self::default() }
    }

    /// Adds a fact.
    #[must_use]
    pub fn fact(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.facts.push(Fact { name: name.into(), value: value.into() });
        self
    }

    /// Adds a section, filled by the function.
    #[must_use]
    pub fn section(mut self, heading: impl Into<String>, fill: impl FnOnce(Section) -> Section) -> Self {
        self.sections.push(fill(Section { heading: heading.into(), blocks: Vec::new() }));
        self
    }
}

impl Section {
    /// Adds a paragraph.
    #[must_use]
    pub fn prose(self, text: impl Into<String>) -> Self {
        self.block(Block::Prose(text.into()))
    }

    /// Adds a paragraph that must not be overlooked.
    #[must_use]
    pub fn warning(self, text: impl Into<String>) -> Self {
        self.block(Block::Warning(text.into()))
    }

    /// Adds a command to copy.
    #[must_use]
    pub fn command(self, text: impl Into<String>) -> Self {
        self.block(Block::Command(text.into()))
    }

    /// Adds a table.
    #[must_use]
    pub fn table(self, table: Table) -> Self {
        self.block(Block::Table(table))
    }

    /// Adds a grid.
    #[must_use]
    pub fn grid(self, grid: Grid) -> Self {
        self.block(Block::Grid(grid))
    }

    /// Adds a plot.
    #[must_use]
    pub fn plot(self, plot: Plot) -> Self {
        self.block(Block::Plot(plot))
    }

    /// Adds two texts to compare.
    #[must_use]
    pub fn compare(self, compare: Compare) -> Self {
        self.block(Block::Compare(compare))
    }

    /// Adds blocks that are shown when asked for.
    #[must_use]
    pub fn fold(self, summary: impl Into<String>, fill: impl FnOnce(Self) -> Self) -> Self {
        let blocks = fill(Self::default()).blocks;
        self.block(Block::Fold { summary: summary.into(), blocks })
    }

    /// Adds pairs of texts to compare.
    #[must_use]
    pub fn blocks(mut self, pairs: impl IntoIterator<Item = Compare>) -> Self {
        self.blocks.extend(pairs.into_iter().map(Block::Compare));
        self
    }

    /// Adds any block.
    #[must_use]
    pub fn block(mut self, block: Block) -> Self {
        self.blocks.push(block);
        self
    }
}

impl Table {
    /// A table without rows.
    pub fn new<T: Into<String>>(caption: impl Into<String>, head: impl IntoIterator<Item = T>) -> Self {
        Self { caption: caption.into(), head: head.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    /// Adds a row. It is cut or filled to the length of the head.
    #[must_use]
    pub fn row(mut self, entries: impl IntoIterator<Item = Entry>) -> Self {
        let mut row: Vec<Entry> = entries.into_iter().collect();
        row.resize(self.head.len(), Entry::default());
        self.rows.push(row);
        self
    }
}

impl Entry {
    /// A text that is to be taken in a way.
    pub fn new(text: impl Into<String>, tone: Tone) -> Self {
        Self { text: text.into(), tone }
    }
}

impl From<&str> for Entry {
    fn from(text: &str) -> Self {
        Self::new(text, Tone::Plain)
    }
}

impl From<String> for Entry {
    fn from(text: String) -> Self {
        Self::new(text, Tone::Plain)
    }
}

impl Grid {
    /// A grid without rows.
    pub fn new<T: Into<String>>(
        caption: impl Into<String>,
        row_title: impl Into<String>,
        columns: impl IntoIterator<Item = T>,
    ) -> Self {
        Self {
            caption: caption.into(),
            row_title: row_title.into(),
            columns: columns.into_iter().map(Into::into).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row. Its squares are cut or filled to the number of columns.
    #[must_use]
    pub fn row(mut self, mut row: GridRow) -> Self {
        row.squares.resize(self.columns.len(), Square::default());
        self.rows.push(row);
        self
    }
}

impl Square {
    /// A square with its word and sentence.
    pub fn new(tone: Tone, word: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { tone, word: word.into(), detail: detail.into() }
    }

    /// What stands for it in a narrow column: nothing where it was not tried.
    pub(super) fn symbol(&self) -> &'static str {
        if self.word.is_empty() { "" } else { self.tone.symbol() }
    }
}
