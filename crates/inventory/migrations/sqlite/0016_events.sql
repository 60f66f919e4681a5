-- Nothing reads events by product: the deliveries of a product have an index of their own, and every sale wrote an entry here.
DROP INDEX events_product;
