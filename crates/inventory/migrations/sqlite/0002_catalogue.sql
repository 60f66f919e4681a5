-- Brands, categories, suppliers and products.
-- Text is kept as written and once more folded (lower case, accents removed): search and order use the folded form.
-- description_key is the folded description's first 200 characters: enough to order by, short enough to index.

CREATE TABLE brands (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    name            TEXT    NOT NULL,
    name_folded     TEXT    NOT NULL,
    description     TEXT,
    description_key TEXT,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX brands_name ON brands (name_folded, id);
CREATE INDEX brands_description ON brands (description_key, id);
CREATE INDEX brands_created_at ON brands (created_at, id);
CREATE INDEX brands_updated_at ON brands (updated_at, id);

CREATE TABLE categories (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    name            TEXT    NOT NULL,
    name_folded     TEXT    NOT NULL,
    description     TEXT,
    description_key TEXT,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX categories_name ON categories (name_folded, id);
CREATE INDEX categories_description ON categories (description_key, id);
CREATE INDEX categories_created_at ON categories (created_at, id);
CREATE INDEX categories_updated_at ON categories (updated_at, id);

CREATE TABLE suppliers (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    name            TEXT    NOT NULL,
    name_folded     TEXT    NOT NULL,
    description     TEXT,
    description_key TEXT,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX suppliers_name ON suppliers (name_folded, id);
CREATE INDEX suppliers_description ON suppliers (description_key, id);
CREATE INDEX suppliers_created_at ON suppliers (created_at, id);
CREATE INDEX suppliers_updated_at ON suppliers (updated_at, id);

CREATE TABLE products (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    title           TEXT    NOT NULL,
    title_folded    TEXT    NOT NULL,
    category_id     INTEGER NOT NULL CONSTRAINT products_category_id_fkey REFERENCES categories (id),
    brand_id        INTEGER NOT NULL CONSTRAINT products_brand_id_fkey REFERENCES brands (id),
    description     TEXT,
    description_key TEXT,
    serie_number    TEXT    CONSTRAINT products_serie_number_key UNIQUE,
    -- Folded for the order of lists; uniqueness is of the number as written.
    serie_number_folded TEXT,
    cost_price      TEXT    NOT NULL CONSTRAINT products_cost_price_check CHECK (length(cost_price) = 23),
    selling_price   TEXT    NOT NULL CONSTRAINT products_selling_price_check CHECK (length(selling_price) = 23),
    created_at      INTEGER NOT NULL
) STRICT;
CREATE INDEX products_title ON products (title_folded, id);
CREATE INDEX products_description ON products (description_key, id);
CREATE INDEX products_serie_number ON products (serie_number_folded, id);
CREATE INDEX products_cost_price ON products (cost_price, id);
CREATE INDEX products_selling_price ON products (selling_price, id);
CREATE INDEX products_created_at ON products (created_at, id);
CREATE INDEX products_category ON products (category_id, id);
CREATE INDEX products_category_title ON products (category_id, title_folded, id);
CREATE INDEX products_category_description ON products (category_id, description_key, id);
CREATE INDEX products_category_serie_number ON products (category_id, serie_number_folded, id);
CREATE INDEX products_category_cost_price ON products (category_id, cost_price, id);
CREATE INDEX products_category_selling_price ON products (category_id, selling_price, id);
CREATE INDEX products_category_created_at ON products (category_id, created_at, id);
CREATE INDEX products_brand ON products (brand_id, id);
CREATE INDEX products_brand_title ON products (brand_id, title_folded, id);
CREATE INDEX products_brand_description ON products (brand_id, description_key, id);
CREATE INDEX products_brand_serie_number ON products (brand_id, serie_number_folded, id);
CREATE INDEX products_brand_cost_price ON products (brand_id, cost_price, id);
CREATE INDEX products_brand_selling_price ON products (brand_id, selling_price, id);
CREATE INDEX products_brand_created_at ON products (brand_id, created_at, id);

-- What movements change stands apart from what people edit, so that a sale touches few indexes.
-- One row a product; category and brand are repeated so that lists filtered by them come in order from an index.
CREATE TABLE product_stock (
    product_id  INTEGER PRIMARY KEY CONSTRAINT product_stock_product_id_fkey REFERENCES products (id) ON DELETE CASCADE,
    category_id INTEGER NOT NULL,
    brand_id    INTEGER NOT NULL,
    -- Changed by the stock ledger alone; the database itself refuses to owe goods.
    quantity    INTEGER NOT NULL CONSTRAINT product_stock_quantity_check CHECK (quantity >= 0),
    -- NULL: the shop's own threshold holds.
    threshold   INTEGER CONSTRAINT product_stock_threshold_check CHECK (threshold >= 0),
    updated_at  INTEGER NOT NULL
) STRICT;
CREATE INDEX product_stock_quantity ON product_stock (quantity, product_id);
CREATE INDEX product_stock_category_quantity ON product_stock (category_id, quantity, product_id);
CREATE INDEX product_stock_brand_quantity ON product_stock (brand_id, quantity, product_id);
CREATE INDEX product_stock_updated_at ON product_stock (updated_at, product_id);
CREATE INDEX product_stock_category_updated_at ON product_stock (category_id, updated_at, product_id);
CREATE INDEX product_stock_brand_updated_at ON product_stock (brand_id, updated_at, product_id);
-- The low-stock list: nearly all products keep the shop's threshold, and few of them are low.
CREATE INDEX product_stock_own_threshold ON product_stock (threshold, quantity, product_id) WHERE threshold IS NOT NULL;
