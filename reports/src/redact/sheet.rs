use serde_json::Value;

use super::Secrets;
use crate::sheet::{
    Axis, Block, Compare, Entry, Fact, Grid, GridRow, Plot, Section, Series, Sheet, Square, Table,
};

/// As for reports: every type is taken apart by name, so that a new field doesn't compile before somebody has thought of
/// it.
impl Secrets {
    /// The document without secrets, in every text and in every name that it holds.
    #[must_use]
    pub fn json(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.owned(text)),
            Value::Array(values) => values.into_iter().map(|value| self.json(value)).collect(),
            Value::Object(members) => {
                let members = members.into_iter().map(|(name, value)| {
                    // What a secret's name is given is a text or a number. What has members of its own is looked into.
                    let secret = self.is_secret_name(&name) && (value.is_string() || value.is_number());
                    let value = if secret { super::REDACTED.into() } else { self.json(value) };
                    (self.owned(name), value)
                });
                Value::Object(members.collect())
            }
            plain => plain,
        }
    }

    /// The sheet without secrets, in every text that it holds.
    #[must_use]
    pub fn sheet(&self, sheet: Sheet) -> Sheet {
        let Sheet { title, tone, word, summary, facts, sections } = sheet;
        Sheet {
            title: self.owned(title),
            tone,
            word: self.owned(word),
            summary: self.owned(summary),
            facts: facts.into_iter().map(|fact| self.fact(fact)).collect(),
            sections: sections
                .into_iter()
                .map(|Section { heading, blocks }| Section {
                    heading: self.owned(heading),
                    blocks: self.blocks(blocks),
                })
                .collect(),
        }
    }

    fn fact(&self, Fact { name, value }: Fact) -> Fact {
        let value = if self.is_secret_name(&name) { super::REDACTED.to_owned() } else { self.owned(value) };
        Fact { name: self.owned(name), value }
    }

    fn blocks(&self, blocks: Vec<Block>) -> Vec<Block> {
        blocks.into_iter().map(|block| self.block(block)).collect()
    }

    fn block(&self, block: Block) -> Block {
        match block {
            Block::Prose(text) => Block::Prose(self.owned(text)),
            Block::Warning(text) => Block::Warning(self.owned(text)),
            Block::Command(text) => Block::Command(self.owned(text)),
            Block::Table(Table { caption, head, rows }) => Block::Table(Table {
                caption: self.owned(caption),
                head: self.all(head),
                rows: rows
                    .into_iter()
                    .map(|row| {
                        row.into_iter()
                            .map(|Entry { text, tone }| Entry { text: self.owned(text), tone })
                            .collect()
                    })
                    .collect(),
            }),
            Block::Grid(Grid { caption, row_title, columns, rows }) => Block::Grid(Grid {
                caption: self.owned(caption),
                row_title: self.owned(row_title),
                columns: self.all(columns),
                rows: rows.into_iter().map(|row| self.grid_row(row)).collect(),
            }),
            Block::Plot(Plot { caption, x, y, series }) => Block::Plot(Plot {
                caption: self.owned(caption),
                x: self.axis(x),
                y: self.axis(y),
                series: series
                    .into_iter()
                    .map(|Series { name, points }| Series { name: self.owned(name), points })
                    .collect(),
            }),
            Block::Compare(Compare { left_title, right_title, left, right }) => Block::Compare(Compare {
                left_title: self.owned(left_title),
                right_title: self.owned(right_title),
                left: self.owned(left),
                right: self.owned(right),
            }),
            Block::Fold { summary, blocks } => {
                Block::Fold { summary: self.owned(summary), blocks: self.blocks(blocks) }
            }
        }
    }

    fn grid_row(&self, GridRow { name, tone, note, squares }: GridRow) -> GridRow {
        GridRow {
            name: self.owned(name),
            tone,
            note: self.owned(note),
            squares: squares
                .into_iter()
                .map(|Square { tone, word, detail }| Square {
                    tone,
                    word: self.owned(word),
                    detail: self.owned(detail),
                })
                .collect(),
        }
    }

    fn axis(&self, Axis { label, logarithmic }: Axis) -> Axis {
        Axis { label: self.owned(label), logarithmic }
    }
}
