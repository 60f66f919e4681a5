//! The pages of the web interface as plain HTTP gives them: their frame, what each reader is offered, forms and what becomes of them.

mod shell;
