import { etagOfShape } from '../../lib/text/etag.ts'
import { isObject } from '../../lib/text/json.ts'
import { type ClientProfile, covers, recognised } from '../../plans/clients/client-profile.ts'
import type { SwitchName } from '../../plans/clients/switches.ts'
import { textIn } from '../answer/own-text.ts'
import { hasEtag } from '../answer/reply.ts'
import type { Admitted, AssignedProfile } from '../gate/request-context.ts'
import { refusedFor } from './refusals.ts'
import { type Fields, listKey, type Reshape, reshapeOf } from './shapes.ts'

/** An answer before it is sent. */
export interface Outgoing {
  request: Request
  /** The route's pattern; undefined where no route was found. */
  route: string | undefined
  set: { headers: Record<string, string | number>; status?: number | string }
  value: unknown
}

/**
 * Whether a switch is on for the client of a request. Handlers whose default or limit a switch
 * changes call it.
 */
export type Switched = (request: Request, name: SwitchName) => boolean

export const unswitched: Switched = () => false

/**
 * The response shapes of client families, by the headers of their requests. Only created where
 * profiles are configured.
 */
export type Profiles = ReturnType<typeof createClientProfiles>

/** The headers that identify clients, in lower case. */
const matchedBy = (profiles: readonly ClientProfile[]): string[] => [
  ...new Set(profiles.flatMap(({ signs }) => signs.map(({ of }) => of))),
]

/** The headers that caches must vary by: every header that a profile matches on. */
export const varyOf = (profiles: readonly ClientProfile[]): string =>
  matchedBy(profiles)
    .filter(name => name !== methodSign)
    .map(titled)
    .join(', ')

const methodSign = 'method'
/** The most different clients that are remembered. */
const rememberedMax = 1000

/** A query worker may have set the `Vary` header already. */
function varyingBy(said: string | number | undefined, vary: string): string {
  if (!said) return vary
  const names = String(said).split(', ')
  return [...names, ...vary.split(', ').filter(name => !names.includes(name))].join(', ')
}

const titled = (header: string): string =>
  header.replace(/(^|-)[a-z]/g, letter => letter.toUpperCase())

/** `assigned`: the profiles of requests that another thread has recognised. */
export function createClientProfiles(
  listed: readonly ClientProfile[],
  assigned: Pick<WeakMap<Request, Pick<Admitted, 'profile'>>, 'get'> = new WeakMap(),
) {
  const matched = matchedBy(listed)
  const vary = varyOf(listed)
  /** The profiles that requests have of others. */
  const given = new WeakMap<Request, ClientProfile>()
  let lastRequest: Request | undefined
  let lastProfile: ClientProfile | null = null
  const conditions = new WeakMap<Request, string>()
  const refusedOnly = new WeakSet<Request>()
  const remembered = new Map<string, ClientProfile | null>()
  const reshapes = new Map<ClientProfile, Map<string, Reshape | undefined>>()
  const last = listed.at(-1)

  const textOf = (request: Request, of: string): string | null =>
    of === methodSign ? request.method : request.headers.get(of)
  /** Matching every sign costs as much as a short response, so clients are remembered. */
  const fitting = (request: Request): ClientProfile | null => {
    const fit = remembered.getOrInsertComputed(
      JSON.stringify(matched.map(of => textOf(request, of))),
      () => recognised(listed, of => textOf(request, of)) ?? null,
    )
    if (remembered.size > rememberedMax) remembered.clear()
    return fit
  }

  /**
   * Most requests are answered before the next one arrives. A weak map of all of them would cost
   * more than comparing the headers of the others again.
   */
  const profileOf = (request: Request): ClientProfile | null => {
    if (request === lastRequest) return lastProfile
    const elsewhere = assigned.get(request)
    lastProfile = elsewhere
      ? (listed.find(({ name }) => name === elsewhere.profile?.name) ?? null)
      : (given.get(request) ?? fitting(request))
    lastRequest = request
    return lastProfile
  }

  const isForRefusals = (request: Request): boolean =>
    refusedOnly.has(request) || assigned.get(request)?.profile?.isForRefusals === true

  const reshapeFor = (profile: ClientProfile, route: string): Reshape | undefined =>
    reshapes
      .getOrInsertComputed(profile, () => new Map<string, Reshape | undefined>())
      .getOrInsertComputed(route, () => reshapeOf(profile.switches, route))

  const refused = (
    profile: ClientProfile,
    { route = '', set }: Outgoing,
    status: number,
    body: Fields,
  ) => {
    const refusal = refusedFor(profile, { route, status, body, headers: set.headers })
    set.status = refusal.status
    return refusal.body === body ? undefined : refusal.body
  }

  const answered = (profile: ClientProfile, { request, route = '', set, value }: Outgoing) => {
    const reshape = reshapeFor(profile, route)
    const { headers } = set
    const reshaped = reshape && madeAnew(value, headers, reshape)
    if (headers.etag === undefined) return reshaped
    if (reshaped !== undefined)
      headers.etag = etagOfShape(
        String(headers.etag),
        typeof reshaped === 'string' ? reshaped : JSON.stringify(reshaped),
      )
    const had = conditions.get(request)
    if (had === undefined || !hasEtag(had, String(headers.etag))) return reshaped
    // The encoder reads which of its encodings the client has.
    request.headers.set('if-none-match', had)
    set.status = 304
    delete headers['content-type']
    return new Response(null, { status: 304 })
  }

  return {
    /** The header `Vary` of every answer. */
    vary,
    /** The request's profile, for the query worker; undefined: none matches. */
    assignedTo(request: Request): AssignedProfile | undefined {
      const name = profileOf(request)?.name
      return name === undefined ? undefined : { name, isForRefusals: isForRefusals(request) }
    },
    switched(request: Request, name: SwitchName): boolean {
      const scope = profileOf(request)?.switches.get(name)
      if (scope === undefined || isForRefusals(request)) return false
      return (
        (scope.only.length === 0 && scope.except.length === 0) ||
        covers(scope, new URL(request.url).pathname)
      )
    },
    /**
     * Before routing. The handlers know one shape of their answers, so the entity tag that a client
     * has is compared after switching only.
     */
    arrive(request: Request) {
      const had = request.headers.get('if-none-match')
      // The answer to a change is sent, whatever tag it has.
      if (had === null || (request.method !== 'GET' && request.method !== 'HEAD')) return
      const profile = profileOf(request)
      // A profile with only additive switches does not change a response that has an entity tag.
      if (!profile || (profile === last && isAdditive(profile))) return
      conditions.set(request, had)
      request.headers.delete('if-none-match')
    },
    /** The entity tag of the request, also where `arrive` removed it. */
    conditionOf: (request: Request) =>
      conditions.get(request) ?? request.headers.get('if-none-match'),
    /**
     * The value to send instead of the given one, with its status and headers set; undefined: the
     * given one goes out.
     */
    leave(answer: Outgoing): unknown {
      const { request, route, set, value } = answer
      set.headers.vary = varyingBy(set.headers.vary, vary)
      const profile = profileOf(request)
      if (!profile || value instanceof Response) return undefined
      const status = typeof set.status === 'number' ? set.status : 200
      if (status >= 400)
        return isObject(value) ? refused(profile, answer, status, value) : undefined
      if (isForRefusals(request)) return undefined
      if (
        status === 204 &&
        route === '/v1/alerts/:id' &&
        profile.switches.has('delete_with_body')
      ) {
        set.status = 200
        return {}
      }
      return status === 200 || status === 201 ? answered(profile, answer) : undefined
    },
    /**
     * A request of this instance on behalf of another: it is refused in the other's shapes, and answered
     * in the usual ones.
     */
    refuseAs(inner: Request, outer: Request) {
      const profile = profileOf(outer)
      if (!profile) return
      given.set(inner, profile)
      refusedOnly.add(inner)
    },
  }
}

/** Whether a profile only adds to what handlers make: entity tags stay as they are. */
const isAdditive = ({ switches }: ClientProfile): boolean =>
  [...switches.keys()].every(name => name === 'latest_flat_and_list' || name === 'list_beside')

const madeOfList = (list: unknown[], reshape: Reshape): Fields | undefined =>
  reshape({ [listKey]: list })

/** The reshaped body where it is JSON: an object as an object, text as text. */
function madeAnew(
  value: unknown,
  headers: Outgoing['set']['headers'],
  reshape: Reshape,
): Fields | string | undefined {
  const text = textIn(value)
  if (text === undefined) {
    if (isObject(value)) return reshape(value)
    return Array.isArray(value) ? madeOfList(value, reshape) : undefined
  }
  if (!String(headers['content-type']).startsWith('application/json')) return undefined
  const body = JSON.parse(text) as Fields | unknown[]
  const reshaped = Array.isArray(body) ? madeOfList(body, reshape) : reshape(body)
  return reshaped && JSON.stringify(reshaped)
}
