-- What a product sold in some days is answered from the index alone: a product that sells all day has tens of thousands of outflows a
-- month, and the dashboard and its prices ask for their units.

DROP INDEX outflows_product_created_at;
CREATE INDEX outflows_product_created_at ON outflows (product_id, created_at, id, quantity);
