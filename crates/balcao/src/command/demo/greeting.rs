//! What the demo prints when it is ready: the addresses, and what to try.

use std::net::SocketAddr;
use std::path::Path;

use super::API_KEY;
use super::example::{PASSWORD, SKU, USERS};
use crate::console;
use crate::failure::Failure;

/// The addresses on which the services listen.
pub(super) struct Addresses {
    pub(super) checkout: SocketAddr,
    pub(super) inventory: SocketAddr,
    pub(super) sandbox: SocketAddr,
}

/// Prints the addresses, the users, and what to try.
pub(super) fn print(addresses: &Addresses, data: &Path) -> Result<(), Failure> {
    let Addresses {
        checkout,
        inventory,
        sandbox,
    } = addresses;
    let users = USERS.map(|(name, ..)| name).join(", ");
    console::print(&format!(
        "\
Balcão is running on this machine. No money moves.

  Checkout   http://{checkout}/?amount=19.90&description=Two%20coffees
             the payment page; its interface is described at http://{checkout}/docs
  Inventory  http://{inventory}
             products and stock; users {users}, each with the password {PASSWORD};
             its interface is described at http://{inventory}/api/v1/docs/
  Sandbox    http://{sandbox}
             the provider: act there as payer and bank

Try
  a card      4235 6477 2802 5682, 11/2030, code 123, holder APRO, CPF 123.456.789-09
              (holder OTHE is declined, CONT stays in review)
  pix         pay it at the sandbox and watch the page turn to paid
  a program   curl http://{checkout}/create_payment -H 'Content-Type: application/json' -d '{{\"payment_method\": \"pix\", \"transaction_amount\": 19.99, \"description\": \"Two coffees\", \"email\": \"ana@example.com\", \"identification_number\": \"123.456.789-09\"}}'
  a merchant  curl http://{checkout}/payments/ -H 'Authorization: Bearer {API_KEY}'
  an order    curl http://{checkout}/orders/ -H 'Authorization: Bearer {API_KEY}' -H 'Content-Type: application/json' -d '{{\"description\": \"Rice\", \"items\": [{{\"title\": \"Rice\", \"quantity\": 2, \"unit_price\": 7.99, \"sku\": \"{SKU}\"}}]}}'
              open its url, pay with the card above: http://{inventory}/outflows/ shows the goods gone
  stock       TOKEN=$(curl -s http://{inventory}/api/v1/authentication/token/ -H 'Content-Type: application/json' -d '{{\"username\": \"manager\", \"password\": \"{PASSWORD}\"}}' | grep -o '\"access\":\"[^\"]*' | cut -d'\"' -f4)
              curl \"http://{inventory}/api/v1/products/?search=cafe&ordering=-quantity\" -H \"Authorization: Bearer $TOKEN\"

Data is kept in {}; `--fresh` starts over. Ctrl-C stops.
",
        data.display()
    ))
}
