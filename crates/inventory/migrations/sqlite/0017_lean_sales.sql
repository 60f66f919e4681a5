-- What a sale writes: every index that has the product, or its stock, in another order was a page or two of the log for each sale. What is
-- left answers the same questions.

-- By quantity and by time of change, of a category or a brand too: many are met along the index, few are sorted.
DROP INDEX product_stock_category_quantity;
DROP INDEX product_stock_brand_quantity;
DROP INDEX product_stock_category_updated_at;
DROP INDEX product_stock_brand_updated_at;
DROP INDEX product_stock_quantity;
DROP INDEX product_stock_updated_at;
CREATE INDEX product_stock_quantity ON product_stock (quantity, product_id, category_id, brand_id);
CREATE INDEX product_stock_updated_at ON product_stock (updated_at, product_id, category_id, brand_id);

-- The outflows of one product, with all that orders them.
DROP INDEX outflows_product_quantity;
DROP INDEX outflows_product_description;
DROP INDEX outflows_product_created_at;
CREATE INDEX outflows_product_created_at ON outflows (product_id, created_at, id, quantity, description_key);

-- The ledger of one product by time, and where it begins.
DROP INDEX ledger_entries_product;
CREATE INDEX ledger_entries_opening ON ledger_entries (product_id, id) WHERE kind = 'opening';
