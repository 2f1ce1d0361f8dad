import { type ClientProfile, type Sign, scopeOf } from './client-profile.ts'
import type { SwitchName } from './switches.ts'

/** The switches of a profile; a list of paths after one, those after `!` left out, is its scope. */
type Switches = Partial<Record<SwitchName, readonly string[]>>

/** A profile that comes with the program: which clients it is for, and why it switches what. */
interface ShippedProfile {
  name: string
  /** The description of requests that match. */
  recognised: string
  signs: readonly Sign[]
  switches: Switches
  why: string
}

const retryAfterCapSeconds = 60
/** The weight that names a family: a strong sign by itself, or weak ones together. */
const enough = 4

const sign = (of: string, pattern: RegExp | undefined, weight = enough): Sign => ({
  of,
  pattern,
  weight,
})

/** A pattern for the user agents of a family, by their last word; it names no vendor. */
const agent = (words: string): Sign =>
  sign('user-agent', new RegExp(`^(?!wellhead|go-http-client)[\\w.]+[-_](${words})(/|$)`, 'i'))

/** An HTTP library or a browser that names only itself, so that the client is unknown. */
const bareAgent = sign(
  'user-agent',
  /^(curl|wget|python-|go-http-client|node|bun|deno|axios|undici|okhttp|java|guzzle|postman|insomnia|httpie|mozilla|wellhead)/i,
  -enough,
)

/** Switches that do not harm clients of the documented shapes and help older ones. */
const lenient: Switches = {
  retry_after_cap: [],
  default_page_max: [],
  past_day_shifted: [],
  partial: [],
  spread_history_default: [],
  curve_structure_default: [],
}

const permitSearches = ['/v1/ei/well-permits/latest', '/v1/ei/well-permits/search']

/**
 * Families of existing clients in the order in which they are tried, and at the end all others, for
 * which nothing is replaced.
 */
export const shippedProfiles: readonly ShippedProfile[] = [
  {
    name: 'shipped-go',
    recognised:
      'an agent that ends in go with a version, such as `prices-go/1.2`; or a GET with a JSON content type and without `Accept`',
    signs: [
      agent('go|golang'),
      sign('accept', undefined, 2),
      sign('content-type', /^application\/json$/i, 1),
      sign('method', /^GET$/, 1),
      bareAgent,
    ],
    switches: {
      ...lenient,
      omit_null: [],
      latest_flat_and_list: [],
      commodities_keyed: [],
      error_string: [],
      storage_scalar_change: [],
    },
    why: "the clients' fields have fixed types: numbers cannot be null, and errors are strings",
  },
  {
    name: 'shipped-php',
    recognised:
      'an agent that ends in php, such as `prices-php`; or `Accept: application/json` without `Accept-Encoding` and content type',
    signs: [
      agent('php'),
      sign('accept', /^application\/json$/i, 2),
      sign('accept-encoding', undefined, 1),
      sign('content-type', undefined, 1),
      bareAgent,
    ],
    switches: { ...lenient, delete_with_body: [] },
    why: 'the clients read a price next to a list as a list, and parse every response as JSON',
  },
  {
    name: 'shipped-node',
    recognised:
      'an agent that ends in node, js or typescript, such as `prices-node/2.0`; or such an `X-SDK-Name`',
    signs: [
      agent('node|nodejs|js|typescript'),
      sign('x-sdk-name', /[-_](node|nodejs|js|typescript)$/i),
    ],
    switches: {
      ...lenient,
      latest_flat_and_list: [],
      delete_with_body: [],
      commodities_keyed: [],
      components_text: [],
      permit_operator_text: ['!/v1/ei/well-permits/search'],
      storage_scalar_change: [],
      storage_records: [],
      record_latest: [],
      iso_week_number: [],
      plain_figures: [],
      spread_ports: [],
      signature_body: [],
      currency_text: [],
      omit_null: [
        '/v1/prices/*',
        '/v1/commodities*',
        '/v1/demo/*',
        '/v1/diesel-prices/*',
        '/v1/alerts/:id/test',
        '/v1/forecasts/*',
        '/v1/futures/*',
        '/v1/drilling-intelligence*',
        '/v1/ei/*',
        '/v1/indicators/*',
        '/v1/webhooks*',
        '/v1/data-sources*',
        ...permitSearches.map(path => `!${path}`),
      ],
    },
    why: 'the clients declare the type of each field: an optional field is absent and never null',
  },
  {
    name: 'shipped-python',
    recognised:
      'an agent that ends in python, such as `prices-python/0.4`; or such an `X-SDK-Name`; or `X-SDK-Language: python`',
    signs: [
      agent('python'),
      sign('x-sdk-name', /[-_]python$/i),
      sign('x-sdk-language', /^python$/i),
    ],
    switches: {
      ...lenient,
      latest_flat_and_list: [],
      delete_with_body: [],
      unknown_code_404: [],
      page_max_1000: [],
      prices_all_list: [],
      categories_lists: [],
      record_latest: ['/v1/ei/forecasts/latest', '/v1/ei/frac-focus/latest'],
      data_object: ['/v1/drilling-intelligence/summary', '/v1/ei/forecasts/compare'],
      data_list: [
        '!/v1/api-keys',
        '!/v1/subscriptions',
        '!/v1/forecasts/monthly',
        '!/v1/futures/:slug/ohlc',
        '!/v1/well-production/top-producers',
      ],
      signature_body: [],
    },
    why: 'the clients expect lists in `data`, and parse every response as JSON',
  },
  {
    name: 'shipped-openbb',
    recognised:
      'an agent with `openbb` in it, or `python-httpx` with `Accept: application/json` and without content type',
    signs: [
      sign('user-agent', /openbb/i),
      sign('user-agent', /^python-httpx/i, 2),
      sign('accept', /^application\/json$/i, 1),
      sign('content-type', undefined, 1),
    ],
    switches: { past_day_shifted: [], latest_flat_and_list: [], omit_null: ['/v1/prices/*'] },
    why: 'the client looks for rows in a list, and accepts neither null strings nor an empty window',
  },
  {
    name: 'shipped-spreadsheet',
    recognised:
      'an agent with `Google-Apps-Script` in it, or one of an add-in for `sheets` or `excel`, such as `prices-excel/1.0`',
    signs: [
      sign('user-agent', /google-apps-script/i),
      agent('(google[-_])?(sheets?|excel)([-_]add-?[io]n)?'),
    ],
    switches: { ...lenient, latest_flat_and_list: [], categories_short: [] },
    why: 'the clients read whole lists and offer few categories',
  },
  {
    name: 'shipped-mcp',
    recognised: 'an agent that ends in mcp, such as `prices-mcp/1.1`',
    signs: [agent('mcp([-_]server)?')],
    switches: {
      ...lenient,
      latest_flat_and_list: [],
      omit_null: ['/v1/prices/*'],
      spread_ports: [],
    },
    why: 'the clients pass responses to a model unchanged, and format every change that is there',
  },
  {
    name: 'shipped-everybody',
    recognised: 'any other client',
    signs: [sign('method', /./)],
    switches: { latest_flat_and_list: [], list_beside: [] },
    why: 'unknown clients can read the response: fields are added, none is replaced',
  },
]

/** The shipped profiles as the configuration has its own. */
export const shippedClientProfiles = (): ClientProfile[] =>
  shippedProfiles.map(({ name, signs, switches }) => ({
    name,
    signs,
    needed: enough,
    switches: new Map(
      Object.entries(switches).map(([name, paths]) => [name as SwitchName, scopeOf(paths)]),
    ),
    retryAfterCapSeconds,
  }))
