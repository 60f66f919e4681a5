//! `balcao openapi SERVICE`: prints the OpenAPI document of a service.

use clap::Args;

use super::common::Service;
use crate::console;
use crate::failure::Failure;

/// Print the API document of a service (OpenAPI 3.1, JSON)
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  balcao openapi checkout > checkout.json")]
pub(super) struct OpenapiArguments {
    service: Service,
}

pub(super) fn run(arguments: &OpenapiArguments) -> Result<(), Failure> {
    let document = match arguments.service {
        Service::Checkout => checkout::openapi(),
        Service::Inventory => inventory::openapi(),
    };
    console::print(document)
}
