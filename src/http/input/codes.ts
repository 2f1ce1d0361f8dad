import type { Catalogue, Resolved } from '../../topics/catalogue/service/catalogue.ts'
import { Problem } from '../problem/problem.ts'
import type { Links } from '../problem/refusals.ts'
import { type Switched, unswitched } from '../profiles/profiles.ts'

/**
 * Turns the codes of a request into series, or refuses with everything a person needs to correct
 * them.
 */
export interface CodeReader {
  /** 1 to `max` codes; duplicates are counted and answered once. */
  read(codes: readonly string[], request: Request, max?: number): Resolved[]
  /**
   * As `read`; but where the request or its client wants that, unknown codes among known ones are
   * left out and named.
   */
  readSome(
    codes: readonly string[],
    request: Request,
    headers: Record<string, string | number>,
  ): KnownCodes
  /** The same at another time: which contract is in front depends on it. */
  at(now: () => number): CodeReader
}

/** The known codes of a request, and the unknown ones. */
export interface KnownCodes {
  known: Resolved[]
  unknown: string[]
}

/** Whether an unknown code must not fail the others (RFC 7240). */
const isLenient = (request: Request): boolean =>
  /(^|[,;\s])handling\s*=\s*"?lenient/i.test(request.headers.get('prefer') ?? '')

/** A series by formula of the caller without values for it; a hidden leg is not named. */
const blockedBy = (code: string, status: 'not_visible' | 'suspended') =>
  new Problem(
    'DATA_NOT_AVAILABLE',
    status === 'suspended'
      ? `${code} is suspended: the plan allows fewer formulas.`
      : `${code} is computed from a code that this key cannot see.`,
    {
      commodity_code: code,
      status,
      missing_legs: status === 'suspended' ? [] : [{ code: null, reason: status }],
    },
  )

/** Throws where a request names more codes than it may. */
export function refuseMoreThan(max: number, { length: requested }: readonly string[]): void {
  if (requested > max)
    throw new Problem('too_many_codes', `At most ${max} codes per request; got ${requested}.`, {
      max,
      requested,
    })
}

export function createCodeReader(
  catalogue: Catalogue,
  now: () => number,
  codesMax: number,
  links: (request: Request) => Links,
  switched: Switched = unswitched,
): CodeReader {
  const unknown = (codes: readonly string[], request: Request): Problem => {
    const near = [...new Set(codes.flatMap(code => catalogue.suggest(code)))].slice(0, 5)
    const hidden = near.some(series => !catalogue.hasData(series))
    const hint = hidden
      ? ' Some suggestions have no data at present: GET /v1/commodities?include_unavailable=true lists them with the reason.'
      : ''
    const start =
      codes.length === 1
        ? `Unknown commodity code: ${codes[0]}.`
        : `Unknown commodity codes: ${codes.join(', ')}.`
    const meant =
      near.length > 0 ? ` Did you mean ${near.map(series => series.code).join(', ')}?` : ''
    return new Problem(
      'invalid_code',
      `${start}${meant} GET /v1/commodities lists every code.${hint}`,
      {
        suggestions: near.map(series => series.code),
        invalid_codes: codes,
        all_codes_url: `${links(request).baseUrl}/v1/commodities/codes`,
        did_you_mean: near.map(series => {
          const reason = catalogue.unavailableReason(series)
          const reader = {
            code: series.code,
            name: series.name,
            description: series.description,
            available: reason === undefined,
          }
          return reason ? { ...reader, unavailable_reason: reason } : reader
        }),
      },
    )
  }
  const reader: CodeReader = {
    at: other => createCodeReader(catalogue, other, codesMax, links, switched),
    readSome(codes, request, headers) {
      const isPartial = () => isLenient(request) || switched(request, 'partial')
      if (codes.length < 2 || codes.length > codesMax || !isPartial())
        return { known: reader.read(codes, request), unknown: [] }
      const at = now()
      const knownCodes = codes.filter(code => catalogue.resolve(code, at))
      const unknown = codes
        .filter(code => !knownCodes.includes(code))
        .map(code => code.toUpperCase().slice(0, 100))
      if (isLenient(request)) headers['preference-applied'] = 'handling=lenient'
      if (knownCodes.length === 0) return { known: reader.read(codes, request), unknown: [] }
      return { known: reader.read(knownCodes, request), unknown: [...new Set(unknown)] }
    },
    read(codes, request, max = codesMax) {
      refuseMoreThan(max, codes)
      const at = now()
      const only = codes.length === 1 ? catalogue.resolve(codes[0]!, at) : undefined
      if (only) return [only]
      const resolved = codes.map(code => catalogue.resolve(code, at))
      const missing = codes
        .filter((_, i) => resolved[i] === undefined)
        .map(code => code.toUpperCase().slice(0, 100))
      for (const code of missing) {
        const block = catalogue.blockOf(code)
        if (block) throw blockedBy(code, block)
      }
      if (missing.length > 0) throw unknown([...new Set(missing)], request)
      const listed = new Set<string>()
      return (resolved as Resolved[]).filter(
        series => !listed.has(series.code) && listed.add(series.code),
      )
    },
  }
  return reader
}
