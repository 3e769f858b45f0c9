//! The two ways in which a tool answers.

use end_to_end::ToolAnswer;

/// Returns the text of an answer that is no error.
pub(in crate::behaviour) fn ok(answer: ToolAnswer) -> String {
    assert!(!answer.failed && answer.refused.is_none(), "{answer:?}");
    answer.text
}

/// Returns the text of an answer that is an error.
pub(in crate::behaviour) fn failed(answer: ToolAnswer) -> String {
    assert!(answer.failed, "{answer:?}");
    answer.text
}
