import type { OpenApiDocument, Parameter } from '../../../src/http/openapi/openapi.ts'
import { isFields } from '../fields.ts'
import type { Documented } from './every-route.ts'
import { nobodysId, sampleId } from './every-route.ts'

type Random = () => number
type Schema = Readonly<Record<string, unknown>>

/** Every control character of ASCII that a header may hold. */
export const controls = `${String.fromCharCode(...Array.from({ length: 31 }, (_, i) => i + 1).filter(code => code !== 10 && code !== 13))}\x7f`

const words = (line: string) => line.split(' ')

/** Texts of which each has broken something somewhere. */
export const hostileTexts: readonly string[] = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\n',
  'x\r\nx-injected: 1',
  '\t',
  '\u001b[31m',
  controls,
  '\u2028',
  '\u202etxt',
  '\ufeff',
  '\ud800',
  'a\udfffb',
  'é'.repeat(300),
  'x'.repeat(5_000),
  '🛢️'.repeat(200),
  'A,'.repeat(200),
  '9'.repeat(30),
  ' 5',
  '5 ',
  'a*b AND NEAR(',
  'x OR 1=1 --',
  ...words(
    '𐍈 ﷺ İ ß ١٢ １２ % %00 %zz %ED%A0%80 + & # ; \' " \\ * _ ( ^ ../../etc/passwd .. . / // <script> "; $(7*7) {{7*7}}',
  ),
  ...words(
    'null undefined true false NaN Infinity -Infinity [] {} __proto__ constructor toString hasOwnProperty valueOf',
  ),
  ...words(
    '0 -0 -1 1 1.5 1e3 1e309 -1e309 0x10 1_000 00 5 100 2147483648 9007199254740993 9223372036854775807 1700000000',
  ),
  ...words(
    '2026-02-30 0000-00-00 0000-01-01 0001-01-01 9999-12-31 10000-01-01 2026-11-20 2024-01-01 1970-01-01 2026-13 2026-Q5 24:00',
  ),
  ...words(
    '+275760-09-13T00:00:00Z -271821-04-20T00:00:00Z 2026-11-20T25:00:00Z 2026-11-20T14:00:00+99:99 1969-12-31T23:59:59Z',
  ),
  ...words(
    'WTI_USD wti_usd BRENT_CRUDE_USD WTI_USD,WTI_USD , ,,WTI_USD, NOPE_USD CUSHING_STORAGE EUR XXX TX permian PAD1 42329400010000',
  ),
  ...words(
    '1d 1h 1w all desc latest csv UTC Mars/Olympus http://[ http://127.0.0.1:9/x file:///etc/passwd a@b @ +15550100002 42-329-40001',
  ),
  ...[401, 201, 301, 501, 601, 701, 801, 102, 603].map(sampleId),
  nobodysId,
  sampleId(201).toUpperCase().replaceAll('-', ''),
]

const hostileNumbers = [
  0,
  -0,
  -1,
  1,
  0.1,
  1.5,
  5,
  90,
  -90.0001,
  100,
  180,
  181,
  1e6,
  1e-320,
  1e21,
  1e308,
  -1e308,
  2 ** 31,
  2 ** 53,
  2 ** 53 + 2,
  -(2 ** 63),
]

export interface Made {
  address: string
  body: unknown
  headers: Record<string, string>
}

/**
 * Makes requests of an operation: half of their values are valid by the document, the rest are not.
 */
export function requestMaker(
  document: OpenApiDocument,
  random: Random,
): (operation: Documented) => Made {
  const chance = (share: number) => random() < share
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!

  const resolved = (schema: Schema | undefined): Schema => {
    const name = typeof schema?.$ref === 'string' ? /[^/]+$/.exec(schema.$ref)?.[0] : undefined
    return name === undefined
      ? (schema ?? {})
      : resolved(document.components.schemas[name] as Schema)
  }

  /** Text of a parameter's kind; never the key and the account that the requests come with. */
  const proper = ({ example, schema }: Parameter): string => {
    const target = resolved(schema)
    const allowed = (target.enum ?? []) as unknown[]
    if (allowed.length > 0 && chance(0.7)) return String(pick(allowed))
    return String(example ?? target.example ?? target.default ?? pick(hostileTexts))
      .replace(sampleId(1), nobodysId)
      .replace(sampleId(101), sampleId(102))
  }

  const encoded = (text: string): string =>
    chance(0.05)
      ? `${encodeURIComponent(text.toWellFormed())}${pick(['%', '%ff', '%ED%A0%80', '%00', '%E2%82'])}`
      : encodeURIComponent(text.toWellFormed())

  const segment = (parameter: Parameter): string => {
    const text = chance(0.5) ? proper(parameter) : pick(hostileTexts)
    // With these segments the URL would be that of another route.
    return ['', '.', '..'].includes(text) ? 'x' : encoded(text)
  }

  const queryOf = (parameters: readonly Parameter[]): string => {
    const pairs = parameters
      .filter(parameter =>
        parameter.required ? chance(0.9) : chance(Math.min(0.5, 3 / parameters.length)),
      )
      .flatMap(parameter => {
        const value = () => encoded(chance(0.5) ? proper(parameter) : pick(hostileTexts))
        const name = encodeURIComponent(parameter.name)
        if (chance(0.05)) return [`${name}=${value()}`, `${name}=${value()}`]
        if (chance(0.03)) return [`${name}[]=${value()}`]
        return [chance(0.02) ? name : `${name}=${value()}`]
      })
    if (chance(0.05))
      pairs.push(
        `${pick(['__proto__', 'constructor', 'x', 'limit', 'page', 'per_page', 'format'])}=${encoded(pick(hostileTexts))}`,
      )
    return pairs.length > 0 ? `?${pairs.join('&')}` : ''
  }

  const hostileValue = (depth = 0): unknown => {
    const kind = random()
    if (kind < 0.5) return pick(hostileTexts)
    if (kind < 0.7) return pick(hostileNumbers)
    if (kind < 0.8) return pick([true, false, null])
    if (depth > 2) return null
    if (kind < 0.9)
      return Array.from({ length: pick([0, 1, 2, 30]) }, () => hostileValue(depth + 1))
    return Object.fromEntries(
      Array.from({ length: pick([0, 1, 3]) }, () => [pick(hostileTexts), hostileValue(depth + 1)]),
    )
  }

  const fitting = (target: Schema, wild: number, depth = 0): unknown => {
    if (chance(wild)) return hostileValue()
    const schema = resolved(target)
    const branches = (schema.anyOf ?? schema.oneOf ?? schema.allOf) as Schema[] | undefined
    if (branches?.length) return fitting(schema.allOf ? branches[0]! : pick(branches), wild, depth)
    if (Array.isArray(schema.enum)) return pick(schema.enum)
    if (depth > 6) return null
    if (schema.properties) {
      const fields = Object.entries(schema.properties as Record<string, Schema>).filter(
        ([name]) => (schema.required as string[] | undefined)?.includes(name) || chance(0.6),
      )
      return Object.fromEntries(
        fields.map(([name, part]) => [name, fitting(part, wild, depth + 1)]),
      )
    }
    if (schema.example !== undefined && chance(0.8)) return schema.example
    if (schema.type === 'array')
      return Array.from({ length: pick([0, 1, 1, 2]) }, () =>
        fitting((schema.items ?? {}) as Schema, wild, depth + 1),
      )
    if (schema.type === 'number' || schema.type === 'integer') return pick(hostileNumbers)
    if (schema.type === 'boolean') return chance(0.5)
    return hostileValue()
  }

  const bodyOf = ({ operation }: Documented): unknown => {
    const media = operation.requestBody?.content['application/json']
    if (chance(0.04))
      return pick([
        '',
        '{',
        '[',
        'nul',
        '{"a":1',
        '"\\ud800"',
        '\ufeff{}',
        '['.repeat(3_000),
        '{"__proto__":{"x":1}}',
        '\0',
        '{"a":1,"a":2}',
      ])
    if (chance(0.06)) return JSON.stringify(hostileValue())
    if (!media) return undefined
    const whole = media.example
    if (whole !== undefined && chance(0.3)) return JSON.stringify(whole)
    if (isFields(whole) && chance(0.5)) return JSON.stringify(withOneWrong(whole))
    return JSON.stringify(fitting(media.schema, pick([0, 0.1, 0.3])))
  }

  /** One field of an example with something else in it, at whatever depth. */
  const withOneWrong = (whole: Readonly<Record<string, unknown>>): unknown => {
    const name = pick(Object.keys(whole))
    const value = whole[name]
    if (name === undefined) return hostileValue()
    return {
      ...whole,
      [name]:
        isFields(value) && Object.keys(value).length > 0 && chance(0.8)
          ? withOneWrong(value)
          : hostileValue(),
    }
  }

  const headersOf = (): Record<string, string> => {
    if (chance(0.8)) return {}
    const name = pick([
      'x-request-id',
      'idempotency-key',
      'if-none-match',
      'if-modified-since',
      'accept',
      'origin',
      'referer',
      'accept-language',
      'content-type',
      'x-forwarded-for',
      'user-agent',
      'range',
      'last-event-id',
      'x-client',
    ])
    return { [name]: headerText(pick(hostileTexts)) }
  }

  return operation => {
    const parameters = operation.operation.parameters ?? []
    const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) =>
      segment(parameters.find(parameter => parameter.in === 'path' && parameter.name === name)!),
    )
    const address = path + queryOf(parameters.filter(parameter => parameter.in === 'query'))
    return {
      address,
      body: operation.method === 'GET' ? undefined : bodyOf(operation),
      headers: headersOf(),
    }
  }
}

/** A text without what no client can put into a header. */
export const headerText = (text: string): string =>
  text.replace(/[\0\r\n]|[^\p{ASCII}\u0080-\u00ff]/gu, '').slice(0, 4_000)
