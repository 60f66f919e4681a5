"""Uses what openapi-python-client made of both documents: takes a token, lists, creates, sells, and pays.

The generated code reads each answer by the document; one that it cannot read, or that is not described, is an exception.
"""

import sys

import checkout_client
import inventory_client
from checkout_client.api.payments import create_payment, list_payments, read_payment, refund_payment
from checkout_client.models import CardPayment, CardRequest, PixPayment, PixRequest, RefundRequest
from inventory_client.api.analyses import list_analyses
from inventory_client.api.authentication import obtain_tokens, refresh_token, verify_token
from inventory_client.api.brands import create_brand, list_brands
from inventory_client.api.categories import create_category, list_categories
from inventory_client.api.inflows import create_inflow, list_inflows
from inventory_client.api.outflows import create_outflow, delete_outflow, list_outflows
from inventory_client.api.products import change_product, create_product, list_products, read_product
from inventory_client.api.stock import list_low_stock, read_ledger
from inventory_client.api.suppliers import create_supplier, list_suppliers
from inventory_client.models import (
    Credentials, FieldErrors, InflowInput, NamedInput, OutflowInput, ProductInput, ProductPatch, Refresh, Verify,
)

checkout_url, inventory_url, card_number = sys.argv[1:]


def keep_stock():
    visitor = inventory_client.Client(base_url=inventory_url, raise_on_unexpected_status=True)
    tokens = obtain_tokens.sync(client=visitor, body=Credentials(username="admin", password="demo-password"))
    access = refresh_token.sync(client=visitor, body=Refresh(refresh=tokens.refresh)).access
    verified = verify_token.sync_detailed(client=visitor, body=Verify(token=access))
    assert verified.status_code == 200, verified
    client = inventory_client.AuthenticatedClient(base_url=inventory_url, token=access, raise_on_unexpected_status=True)

    lists = [list_brands, list_categories, list_suppliers, list_products, list_inflows, list_outflows, list_low_stock, list_analyses]
    for module in lists:
        page = module.sync(client=client, page_size=100)
        assert page.count >= len(page.results), module

    brand = create_brand.sync(client=client, body=NamedInput(name="Bom Grão"))
    category = create_category.sync(client=client, body=NamedInput(name="Grãos"))
    supplier = create_supplier.sync(client=client, body=NamedInput(name="Atacado"))
    product = create_product.sync(client=client, body=ProductInput(
        title="Arroz integral", brand=brand.id, category=category.id, cost_price="8.00", selling_price="12.50", quantity=3,
    ))
    assert product.selling_price == "12.50" and product.quantity == 3, product
    # The date-time of an answer is one of Python's own.
    assert product.created_at.tzinfo is not None, product
    create_inflow.sync(client=client, body=InflowInput(product=product.id, supplier=supplier.id, quantity=4))
    sale = create_outflow.sync(client=client, body=OutflowInput(product=product.id, quantity=2))
    refused = create_outflow.sync(client=client, body=OutflowInput(product=product.id, quantity=99))
    assert isinstance(refused, FieldErrors), refused
    assert read_product.sync(client=client, id=product.id).quantity == 5
    assert delete_outflow.sync_detailed(client=client, id=sale.id).status_code == 204
    changed = change_product.sync(client=client, id=product.id, body=ProductPatch(selling_price="13.00"))
    assert (changed.selling_price, changed.quantity) == ("13.00", 7), changed
    assert read_ledger.sync(client=client, id=product.id).count == 4


def take_payments():
    buyer = checkout_client.Client(base_url=checkout_url, raise_on_unexpected_status=True)
    merchant = checkout_client.AuthenticatedClient(base_url=checkout_url, token="demo-key", raise_on_unexpected_status=True)
    card = CardRequest(
        payment_method="card", transaction_amount=19.99, description="Two coffees", email="ana@example.com",
        card_number=card_number, expiration_month="11", expiration_year="2039", security_code="123", cardholder_name="APRO",
        identification_number="12345678909", installments=1,
    )
    paid = create_payment.sync(client=buyer, body=card, idempotency_key="python-1")
    assert isinstance(paid, CardPayment) and paid.status.value == "approved", paid
    assert create_payment.sync(client=buyer, body=card, idempotency_key="python-1").id == paid.id
    pix = create_payment.sync(client=buyer, body=PixRequest(
        payment_method="pix", transaction_amount=5.5, description="A coffee", email="ana@example.com",
        identification_number="12345678909",
    ))
    assert isinstance(pix, PixPayment) and pix.status.value == "pending", pix
    listed = list_payments.sync(client=merchant)
    assert {paid.id, pix.id} <= {payment.id for payment in listed.results}, listed
    refund_payment.sync(id=paid.id, client=merchant, body=RefundRequest(amount=9.99))
    assert read_payment.sync(id=paid.id, client=merchant).status_detail == "partially_refunded"


keep_stock()
take_payments()
