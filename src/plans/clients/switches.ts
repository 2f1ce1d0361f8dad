/**
 * The switches of client profiles and their effects, in the words of the documentation. The effects
 * are implemented in `http/profiles`.
 */
export const switchEffects = {
  latest_list: 'latest price of one code: `data.prices` with one row instead of the flat row',
  latest_flat_and_list: 'latest price of one code: the flat row, and `prices` with the same row',
  commodities_keyed: 'commodities: `data.commodities` and `data.metadata.total` instead of a list',
  delete_with_body: 'deleting an alert: 200 with `{}` instead of 204',
  page_max_1000: 'windowed prices: `per_page` up to 1000',
  default_page_max: 'windowed prices without `page` and `per_page`: the whole window on one page',
  retry_after_cap:
    '`Retry-After` of a used-up quota is at most `values.retry_after_cap` seconds (default: 60)',
  quota_without_retry_after: 'a used-up quota has no `Retry-After`',
  unknown_code_404: 'an unknown code on price paths: 404 instead of 400',
  prices_all_list: '`/v1/prices/all`: `data` is a list instead of maps',
  windowed_list: 'windowed prices: `data` is the list, with separate metadata',
  futures_enveloped: 'futures: the body under `data`, with `status`',
  spread_history_default: 'futures spread history without dates: the last 30 days',
  curve_structure_default: 'curve structure without a commodity: that of the first exchange crude',
  storage_scalar_change:
    'crude stocks: all numbers in thousands of barrels, and `change` is the change over a week',
  error_string: 'errors: `error` is the message; other fields are at the top level',
  diesel_flat: 'diesel of a state: the price directly under `data`',
  string_settlement: 'futures curve: `settlement_price` is a string',
  signature_body: 'webhook endpoints that the client creates: the signature covers only the body',
  partial:
    'latest, windowed prices, batch, metrics: an unknown code among others is left out and named in `missing_codes`, as with `Prefer: handling=lenient`',
  past_day_shifted:
    '`/v1/prices/past_day` on a day without prices, such as a Sunday: the last day with prices, and `metadata.window_shifted`',
  omit_null:
    'every success: null fields are left out, and in price rows also changes without a percentage',
  currency_text: 'every success: a null `currency` is an empty string',
  echo_code: 'price rows: `code` is the alias, if one was requested',
  categories_short: 'commodities: `category` is `oil`, `gas`, `products`, `coal` …',
  categories_lists: 'commodities by category: the list itself under each category',
  data_list:
    'nineteen lists (webhooks and their events, data sources, keys, forecasts, quality reports, top producers, futures prices …): `data` is the list, the rest is in `meta`',
  data_object:
    'alerts, scheduled deliveries, drilling summary, compared forecasts: an object with the list under its name (such as `{alerts, count}`) instead of a list',
  list_beside: 'the lists of `data_list`: also under their name at the top level',
  spread_ports:
    'bunker spread of two ports: `from_port`, `to_port` are `{code, name, country, region}`, `arbitrage_opportunity` is a string',
  components_text: 'spreads: `components` are strings',
  permit_operator_text: 'well permits: `operator` is the name',
  iso_week_number: 'every success: `week` is the number of the week',
  record_latest:
    'newest forecasts, fracturing jobs, OPEC and drilling productivity: one record with `id`, `date` and `timestamp`',
  storage_records:
    'crude stocks of the country as one record with `code`, `level`, `unit` and `timestamp`, regions as a list of such records',
  plain_figures:
    '`economical` is true or false, `confidence` low, medium or high, `status_code` 0 if nothing was sent, `latest_forecast` a number; basin trends have `metric` and `value`, curve structures `type` and `value`',
} as const

export type SwitchName = keyof typeof switchEffects

export const switchNames = Object.keys(switchEffects) as readonly SwitchName[]
