// The provider's official client for JavaScript, as it is but for the address, does with the sandbox what a shop does. Every member
// that the client's types tell of is in the sandbox's answers.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import mercadopago from "mercadopago";
import ts from "typescript";

const { CardToken, IdentificationType, MercadoPagoConfig, Payment, PaymentMethod, PaymentRefund, User } = mercadopago;
const [address, accessToken, cardNumber] = process.argv.slice(2);
const require = createRequire(import.meta.url);
require("mercadopago/dist/utils/config").AppConfig.BASE_URL = address;
const config = new MercadoPagoConfig({ accessToken });

const identification = { type: "CPF", number: "12345678909" };
const payer = { email: "ana@example.com", identification };
const order = { transaction_amount: 19.99, description: "Two coffees", external_reference: "javascript-1", payer };
const payments = new Payment(config);
const refunds = new PaymentRefund(config);

const token = await new CardToken(config).create({
  body: {
    card_number: cardNumber, expiration_month: "11", expiration_year: "2039", security_code: "123",
    cardholder: { name: "APRO", identification },
  },
});
const paid = await payments.create({ body: { ...order, token: token.id, payment_method_id: "visa", installments: 1 } });
assert.equal(paid.status, "approved");
assert.equal((await payments.get({ id: paid.id })).id, paid.id);
const pix = await payments.create({ body: { ...order, payment_method_id: "pix" } });
assert.equal((await payments.cancel({ id: pix.id })).status, "cancelled");
const boletoPayer = {
  ...payer, first_name: "Ana", last_name: "Lima",
  address: {
    zip_code: "01310100", street_name: "Avenida Paulista", street_number: "1000", neighborhood: "Bela Vista", city: "São Paulo",
    federal_unit: "SP",
  },
};
const boleto = await payments.create({ body: { ...order, payer: boletoPayer, payment_method_id: "bolbradesco" } });
assert.equal(boleto.transaction_details.digitable_line.length, 47);

const search = await payments.search({ options: { external_reference: "javascript-1", sort: "date_created", criteria: "asc" } });
assert.deepEqual(search.results.map(({ id }) => id), [paid.id, pix.id, boleto.id]);
const refund = await refunds.create({ payment_id: paid.id, body: { amount: 9.99 } });
await refunds.total({ payment_id: paid.id });
assert.equal((await refunds.list({ payment_id: paid.id })).length, 2);
assert.equal((await payments.get({ id: paid.id })).status, "refunded");
await assert.rejects(payments.create({ body: { ...order, payment_method_id: "no such" } }), { status: 400 });

const types = await new IdentificationType(config).list();
assert.deepEqual(types.map(({ id }) => id), ["CPF", "CNPJ"]);
const methods = await new PaymentMethod(config).get();
const user = await new User(config).get();
assert.equal(user.site_id, "MLB");

// The members by type, as the client's declarations have them.
const root = require.resolve("mercadopago/package.json").replace("package.json", "dist/clients/");
const files = ["cardToken/commonTypes", "identificationType/list/types", "payment/commonTypes", "payment/search/types",
  "paymentMethod/get/types", "paymentRefund/commonTypes", "user/get/types"].map((name) => `${root}${name}.d.ts`);
const program = ts.createProgram(files, {});
const checker = program.getTypeChecker();

function members(file, name) {
  const source = program.getSourceFile(`${root}${file}.d.ts`);
  const symbol = checker.getExportsOfModule(checker.getSymbolAtLocation(source)).find((symbol) => symbol.name === name);
  return checker.getPropertiesOfType(checker.getDeclaredTypeOfSymbol(symbol)).map((property) => property.name);
}

// `contry_id` is a slip of the client's pen beside `country_id`.
const known = [
  ["cardToken/commonTypes", "CardTokenResponse", token],
  ["identificationType/list/types", "IdentificationTypeResponse", { ...types[0], api_response: {} }],
  ...[paid, pix, boleto].map((payment) => ["payment/commonTypes", "PaymentResponse", payment]),
  ["payment/commonTypes", "TransactionDetails", boleto.transaction_details],
  ["payment/commonTypes", "Card", paid.card],
  ["payment/search/types", "PaymentSearchResult", search.results[0]],
  ["paymentMethod/get/types", "PaymentMethodResponse", { ...methods[0], api_response: {} }],
  ["paymentRefund/commonTypes", "RefundResponse", refund],
  ["user/get/types", "UserResponse", { ...user, contry_id: user.country_id }],
];
const missing = known.map(([file, name, answer]) => [name, members(file, name).filter((member) => !(member in answer))]);
assert.deepEqual(missing, known.map(([, name]) => [name, []]));
