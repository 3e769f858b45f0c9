//! Every transition: inputs in, effects out.
