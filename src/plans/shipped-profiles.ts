import type { ClientProfile } from './client-profile.ts'
import type { SwitchName } from './switches.ts'

/** A profile that comes with the program: which clients it is for, and why it switches what. */
interface ShippedProfile {
  name: string
  /** What their header says, in words. */
  recognised: string
  pattern: RegExp
  switches: readonly SwitchName[]
  why: string
}

const retryAfterCapSeconds = 60

/** What does no harm to a client that reads the documented shapes, and helps one that is older. */
const lenient: readonly SwitchName[] = [
  'retry_after_cap',
  'default_page_max',
  'past_day_shifted',
  'partial',
  'spread_history_default',
  'curve_structure_default',
]

/** A client of this project is one that knows the documented shapes. */
const foreign = '(?!wellhead)'

/**
 * Families of existing clients, by the form of what they call themselves: no name of anybody. A
 * program that calls itself by its HTTP library alone gets the documented shapes.
 */
export const shippedProfiles: readonly ShippedProfile[] = [
  {
    name: 'shipped-go',
    recognised: 'an agent that ends in go with a version, such as `prices-go/1.2`',
    pattern: new RegExp(`^${foreign}(?!go-http-client)[\\w.]+[-_]go(lang)?(/|$)`, 'i'),
    switches: [
      ...lenient,
      'omit_null',
      'latest_flat_and_list',
      'error_string',
      'storage_scalar_change',
      'data_list',
    ],
    why: 'fields have a fixed type: no null for numbers, and errors are texts',
  },
  {
    name: 'shipped-php',
    recognised: 'an agent that ends in php with or without a version, such as `prices-php`',
    pattern: new RegExp(`^${foreign}[\\w.]+[-_]php(/|$)`, 'i'),
    switches: [
      ...lenient,
      'latest_flat_and_list',
      'error_string',
      'delete_with_body',
      'data_object',
    ],
    why: 'lists are read by their name, and every answer is parsed as JSON',
  },
  {
    name: 'shipped-node',
    recognised: 'an agent that ends in node, js or typescript, such as `prices-node/2.0`',
    pattern: new RegExp(`^${foreign}[\\w.]+[-_](node|nodejs|js|typescript)(/|$)`, 'i'),
    switches: [...lenient, 'latest_flat_and_list', 'delete_with_body'],
    why: 'one code is read as a row or as a list, and a deletion is awaited as JSON',
  },
  {
    name: 'shipped-python',
    recognised: 'an agent that ends in python, such as `prices-python/0.4`',
    pattern: new RegExp(`^${foreign}[\\w.]+[-_]python(/|$)`, 'i'),
    switches: [...lenient, 'latest_flat_and_list', 'delete_with_body'],
    why: 'one code is read as a row or as a list, and a deletion is parsed as JSON',
  },
  {
    name: 'shipped-openbb',
    recognised: 'an agent with `openbb` in it',
    pattern: /openbb/i,
    switches: [...lenient, 'latest_flat_and_list', 'echo_code'],
    why: 'a symbol is looked up under the requested name',
  },
  {
    name: 'shipped-spreadsheet',
    recognised:
      'an agent with `sheets` or `excel` in it that is an add-in, such as `prices-excel/1.0`',
    pattern: new RegExp(
      `^${foreign}[\\w.]+[-_](google[-_])?(sheets?|excel)([-_]add-?[io]n)?(/|$)`,
      'i',
    ),
    switches: [...lenient, 'latest_flat_and_list', 'categories_short', 'data_list'],
    why: 'a sheet reads whole lists and offers few categories',
  },
  {
    name: 'shipped-mcp',
    recognised: 'an agent that ends in mcp, such as `prices-mcp/1.1`',
    pattern: new RegExp(`^${foreign}[\\w.]+[-_]mcp([-_]server)?(/|$)`, 'i'),
    switches: [...lenient, 'latest_flat_and_list', 'spread_ports'],
    why: 'answers are handed to a model as they are',
  },
]

/** The shipped profiles as the configuration has its own. */
export const shippedClientProfiles = (): ClientProfile[] =>
  shippedProfiles.map(({ name, pattern, switches }) => ({
    name,
    match: [{ header: 'user-agent', pattern }],
    switches: new Set(switches),
    retryAfterCapSeconds,
  }))
