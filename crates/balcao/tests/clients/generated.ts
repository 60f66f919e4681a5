// Uses what openapi-typescript made of both documents: takes a token, lists, creates, sells, and pays. The compiler holds every
// request and every answer against the generated types.

import createClient from "openapi-fetch";
import type { paths as Checkout } from "./checkout.js";
import type { paths as Inventory } from "./inventory.js";

declare const process: { argv: string[] };
const [checkoutUrl, inventoryUrl, cardNumber] = process.argv.slice(2) as [string, string, string];

function there<T>(answer: { data?: T; error?: unknown; response: Response }): T {
  if (answer.data === undefined) throw new Error(`${answer.response.status}: ${JSON.stringify(answer.error)}`);
  return answer.data;
}

function same<T>(found: T, expected: T) {
  if (JSON.stringify(found) !== JSON.stringify(expected)) throw new Error(`${JSON.stringify(found)} is not ${JSON.stringify(expected)}`);
}

async function keepStock() {
  const visitor = createClient<Inventory>({ baseUrl: inventoryUrl });
  const credentials = { username: "admin", password: "demo-password" };
  const { access } = there(await visitor.POST("/api/v1/authentication/token/", { body: credentials }));
  const shop = createClient<Inventory>({ baseUrl: inventoryUrl, headers: { Authorization: `Bearer ${access}` } });

  const brand = there(await shop.POST("/api/v1/brands/", { body: { name: "Torra Boa" } }));
  const category = there(await shop.POST("/api/v1/categories/", { body: { name: "Cafés" } }));
  const product = there(
    await shop.POST("/api/v1/products/", {
      body: { title: "Café Torra Boa", brand: brand.id, category: category.id, cost_price: "8.00", selling_price: "12.50", quantity: 3 },
    }),
  );
  const price: string = product.selling_price;
  same(price, "12.50");
  there(await shop.POST("/api/v1/outflows/", { body: { product: product.id, quantity: 2 } }));
  const refused = await shop.POST("/api/v1/outflows/", { body: { product: product.id, quantity: 99 } });
  same(refused.response.status, 400);
  const found = there(await shop.GET("/api/v1/products/", { params: { query: { search: "torra boa", page_size: 5 } } }));
  same(found.results.map(({ id, quantity }) => [id, quantity]), [[product.id, 1]]);
  const ledger = there(await shop.GET("/api/v1/products/{id}/ledger/", { params: { path: { id: product.id } } }));
  same(ledger.count, 2);
}

async function takePayments() {
  const buyer = createClient<Checkout>({ baseUrl: checkoutUrl });
  const merchant = createClient<Checkout>({ baseUrl: checkoutUrl, headers: { Authorization: "Bearer demo-key" } });
  const paid = there(
    await buyer.POST("/create_payment", {
      params: { header: { "Idempotency-Key": "typescript-1" } },
      body: {
        payment_method: "card", transaction_amount: 19.99, description: "Two coffees", email: "ana@example.com",
        card_number: cardNumber, expiration_month: "11", expiration_year: "2039", security_code: "123", cardholder_name: "APRO",
        identification_number: "12345678909", installments: 1,
      },
    }),
  );
  same(paid.status, "approved");
  if (!("card" in paid)) throw new Error("no card");
  same(paid.card.last_four_digits, cardNumber.slice(-4));
  const listed = there(await merchant.GET("/payments/", { params: { query: { status: "approved" } } }));
  if (!listed.results.some(({ id }) => id === paid.id)) throw new Error("the payment is not in the list");
  const path = { id: paid.id };
  there(await merchant.POST("/payments/{id}/refunds", { params: { path }, body: { amount: 9.99 } }));
  same(there(await merchant.GET("/payments/{id}", { params: { path } })).status_detail, "partially_refunded");
}

await keepStock();
await takePayments();
