/**
 * What a client profile may switch, and what each does, in the words of the documentation. The
 * effects stand in `http/profiles`.
 */
export const switchEffects = {
  latest_list: 'latest price of one code: `data.prices` with one row instead of the flat row',
  latest_flat_and_list: 'latest price of one code: the flat row, and `prices` with the same row',
  commodities_keyed: 'commodities: `data.commodities` and `data.metadata.total` instead of a list',
  delete_with_body: 'deleting an alert: 200 with `{}` instead of 204',
  page_max_1000: 'windowed prices: `per_page` up to 1000',
  default_page_max: 'windowed prices without `page` and `per_page`: the whole window on one page',
  retry_after_cap: '`Retry-After` of a used-up quota is at most `values.retry_after_cap` (60 s)',
  quota_without_retry_after: 'a used-up quota has no `Retry-After`',
  unknown_code_404: 'an unknown code on price paths: 404 instead of 400',
  prices_all_list: '`/v1/prices/all`: `data` is a list instead of maps',
  windowed_list: 'windowed prices: `data` is the list, with separate metadata',
  futures_enveloped: 'futures: the body under `data`, with `status`',
  spread_history_default: 'futures spread history without dates: the last 30 days',
  curve_structure_default: 'curve structure without a commodity: that of the first exchange crude',
  storage_scalar_change:
    'crude stocks: thousands of barrels everywhere, and `change` is the number of the week',
  error_string: 'errors: `error` is the message; other fields are at the top level',
  diesel_flat: 'diesel of a state: the price directly under `data`',
  string_settlement: 'futures curve: `settlement_price` is text',
  signature_body: 'webhooks that are created: signature over the body alone',
  partial:
    'latest, windowed prices, batch, metrics: an unknown code among others is left out and named in `missing_codes`; `Prefer: handling=lenient` asks for the same',
  past_day_shifted:
    '`/v1/prices/past_day` where the day has no prices, as on a Sunday: the last day that has, with `metadata.window_shifted`',
  omit_null: 'price rows: a null `currency` or `change…` is left out',
  echo_code: 'price rows: `code` as requested, if that was an alias',
  categories_short: 'commodities: `category` is `oil`, `gas`, `products`, `coal` …',
  data_list:
    'seventeen list reads (webhooks, data sources, keys, forecasts, quality reports, top producers, futures prices …): `data` is the list, the rest is in `meta`',
  data_object:
    'alerts and scheduled deliveries: `{alerts, count}` and `data.scheduled_deliveries` instead of lists',
  spread_ports:
    'bunker spread of two ports: `from_port`, `to_port` are `{code, name, region}`, `arbitrage_opportunity` is a text',
  components_text: 'spreads: `components` are texts',
  permit_operator_text: 'well permits: `operator` is the name',
  iso_week_number: 'storage analytics: `week` is the number of the week',
} as const

export type SwitchName = keyof typeof switchEffects

export const switchNames = Object.keys(switchEffects) as readonly SwitchName[]
