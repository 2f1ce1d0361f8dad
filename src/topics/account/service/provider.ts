import { createHash } from 'node:crypto'
import {
  createLocalJWKSet,
  errors,
  type JSONWebKeySet,
  type JWTPayload,
  type JWTVerifyOptions,
  jwtVerify,
} from 'jose'
import type { Ids } from '../../../lib/ids.ts'
import type { Clock } from '../../../lib/time/clock.ts'
import { hourMs, minuteMs, secondMs } from '../../../lib/time/instant.ts'
import { type AskProvider, ProviderError } from '../../../send/sign-in/provider-http.ts'

/** The registration of this service at the provider. */
export interface ProviderClient {
  issuer: string
  clientId: string
  clientSecret: string
  /** The audience of access tokens. */
  audience: string
}

export interface ProviderDeps {
  client: ProviderClient
  ask: AskProvider
  clock: Clock
  ids: Pick<Ids, 'token'>
}

/** A pending sign-in at the provider; only hashes of its values leave this process. */
export interface ProviderAttempt {
  nonce: string
  verifier: string
  redirectUri: string
}

/** A user who has signed in at the provider. */
export interface ProviderClaims extends JWTPayload {
  sub: string
}

/** A refused token of the provider; the message is for the log. */
export class ProviderRefusal extends Error {}

/** Where the provider returns people to, on this site. */
export const callbackPath = '/sign-in/company/callback'

export const clockToleranceSeconds = 60
/** Only signatures by public key: everyone who knows a shared secret could sign. */
const algorithms = ['RS', 'PS', 'ES'].flatMap(kind => [256, 384, 512].map(bits => kind + bits))
const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout'
const logoutTokenAge = '5 minutes'
const discoveryMs = hourMs
/** The shortest time between two fetches of keys for tokens with an unknown key. */
const keysAgainMs = 10 * secondMs
const keysMs = 15 * minuteMs

const endpointNames = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const
type Discovery = Record<(typeof endpointNames)[number], string> & {
  takesSecretInBody: boolean
  namesIssuer: boolean
}

export type Provider = ReturnType<typeof createProvider>

/** The addresses and the keys that a provider publishes, and tokens as these prove them. */
function createPublished({ client: { issuer }, ask, clock }: Omit<ProviderDeps, 'ids'>) {
  const discovery = refreshed(clock, discoveryMs, async (): Promise<Discovery> => {
    const found = await ask(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`)
    if (found.issuer !== issuer)
      throw new ProviderRefusal(`the provider names itself ${String(found.issuer)}`)
    const isSecure = issuer.startsWith('https:')
    const [authorization_endpoint, token_endpoint, jwks_uri] = endpointNames.map(name => {
      const url = found[name]
      if (typeof url !== 'string' || (isSecure && !url.startsWith('https:')))
        throw new ProviderRefusal(`${name} of the provider must be an https address`)
      return url
    }) as [string, string, string]
    const methods = found.token_endpoint_auth_methods_supported
    return {
      authorization_endpoint,
      token_endpoint,
      jwks_uri,
      takesSecretInBody: Array.isArray(methods) && !methods.includes('client_secret_basic'),
      namesIssuer: found.authorization_response_iss_parameter_supported === true,
    }
  })
  const keys = refreshed(clock, keysMs, async () =>
    createLocalJWKSet((await ask((await discovery.get()).jwks_uri)) as unknown as JSONWebKeySet),
  )

  /** The claims of a token that the provider has signed; keys that it has rotated are fetched. */
  const verified = async (token: string, options: JWTVerifyOptions): Promise<JWTPayload> => {
    const check = async () =>
      (
        await jwtVerify(token, await keys.get(), {
          issuer,
          algorithms,
          clockTolerance: clockToleranceSeconds,
          currentDate: new Date(clock.now()),
          ...options,
        })
      ).payload
    try {
      return await check()
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || keys.ageMs() < keysAgainMs) throw error
      keys.drop()
      return await check()
    }
  }

  return { discovery, keys, verified }
}

/** The company's OpenID Connect provider: where people sign in, and what its tokens prove. */
export function createProvider(deps: ProviderDeps) {
  const { client, ask, ids } = deps
  const { issuer, clientId, clientSecret, audience } = client
  const { discovery, keys, verified } = createPublished(deps)

  const redeem = async (code: string, { verifier, redirectUri }: ProviderAttempt) => {
    const { token_endpoint, takesSecretInBody } = await discovery.get()
    const form = new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri,
      code_verifier: verifier,
      client_id: clientId,
    })
    const isBasic = clientSecret !== '' && !takesSecretInBody
    if (clientSecret !== '' && !isBasic) form.set('client_secret', clientSecret)
    const credentials = [clientId, clientSecret].map(encodeURIComponent).join(':')
    return await ask(
      token_endpoint,
      form,
      isBasic ? `Basic ${Buffer.from(credentials).toString('base64')}` : undefined,
    )
  }

  const begin = async (redirectUri: string, state: string) => {
    const { authorization_endpoint } = await discovery.get()
    const attempt: ProviderAttempt = { nonce: ids.token(), verifier: ids.token(), redirectUri }
    const url = new URL(authorization_endpoint)
    const challenge = createHash('sha256').update(attempt.verifier).digest('base64url')
    const parameters = {
      response_type: 'code',
      client_id: clientId,
      redirect_uri: redirectUri,
      scope: 'openid email profile',
      state,
      nonce: attempt.nonce,
      code_challenge: challenge,
      code_challenge_method: 'S256',
    }
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
    return { url: url.href, attempt }
  }

  return {
    issuer,
    /** Begins a sign-in: the address for the browser, and the state to keep until it returns. */
    begin,
    /**
     * Fetches what a sign-in needs, and presents a code that does not exist: a provider that knows
     * the client refuses only the code. Throws what fails, and returns the address that shows
     * whether the provider returns people to this service, without asking a person.
     */
    async examine(redirectUri: string): Promise<string> {
      const { url, attempt } = await begin(redirectUri, ids.token())
      if ((await keys.get()).jwks().keys.length === 0)
        throw new ProviderRefusal('the provider has no keys to sign with')
      const refusal = await redeem(ids.token(), attempt).then(
        () => undefined,
        (error: unknown) => error,
      )
      if (!(refusal instanceof ProviderError) || refusal.isAboutClient || !refusal.code)
        throw refusal ?? new ProviderRefusal('the provider accepts a code that it did not make')
      return `${url}&prompt=none`
    },
    /** Redeems a code for the claims of the person; throws if any check fails. */
    async complete(
      attempt: ProviderAttempt,
      code: string,
      from: string | undefined,
    ): Promise<ProviderClaims> {
      const { namesIssuer } = await discovery.get()
      if (from === undefined ? namesIssuer : from !== issuer)
        throw new ProviderRefusal('the answer is from another issuer')
      const { id_token: token } = await redeem(code, attempt)
      if (typeof token !== 'string') throw new ProviderRefusal('there is no ID token')
      const claims = await verified(token, {
        audience: clientId,
        requiredClaims: ['sub', 'iat', 'exp', 'nonce'],
      })
      if (claims.nonce !== attempt.nonce) throw new ProviderRefusal('the nonce is another one')
      const isOnlyOurs = !Array.isArray(claims.aud) || claims.aud.length === 1
      if (claims.azp === undefined ? !isOnlyOurs : claims.azp !== clientId)
        throw new ProviderRefusal('the ID token is for another party')
      if (claims.events !== undefined)
        throw new ProviderRefusal('the token must be an ID token; got a logout token')
      return personOf(claims)
    },
    /** Ends sign-ins, by a logout token that the provider sends; each token is valid once. */
    async loggedOut(token: string) {
      const claims = await verified(token, {
        audience: clientId,
        requiredClaims: ['iat', 'jti', 'events'],
        maxTokenAge: logoutTokenAge,
      })
      const events = claims.events as Record<string, unknown> | undefined
      if (typeof events !== 'object' || !Object.hasOwn(events, logoutEvent))
        throw new ProviderRefusal('the token must be a logout token')
      if ('nonce' in claims) throw new ProviderRefusal('a logout token must have no nonce')
      const { sub, sid } = claims
      if (typeof sub !== 'string' && typeof sid !== 'string')
        throw new ProviderRefusal('the logout token names neither a subject nor a session')
      return {
        subject: sub ?? null,
        session: typeof sid === 'string' ? sid : null,
      }
    },
    /** The claims of an access token for this API. */
    async accessed(token: string): Promise<ProviderClaims & { exp: number }> {
      const claims = await verified(token, {
        audience: audience || clientId,
        requiredClaims: ['sub', 'iat', 'exp'],
      })
      // An ID token has the same audience, but does not authorize API requests.
      const isOther = ['nonce', 'at_hash', 'c_hash', 's_hash', 'events'].some(
        name => name in claims,
      )
      if (isOther || claims.typ === 'ID')
        throw new ProviderRefusal('the token must be an access token')
      return { ...personOf(claims), exp: claims.exp! }
    },
  }
}

function personOf(claims: JWTPayload): ProviderClaims {
  const { sub } = claims
  if (typeof sub !== 'string' || sub === '' || sub.length > 255)
    throw new ProviderRefusal('the token names no subject')
  return { ...claims, sub }
}

/** A value that is fetched when it is needed and older than it may be; one fetch at a time. */
function refreshed<T>(clock: Clock, lifetimeMs: number, fetch: () => Promise<T>) {
  let current: { value: Promise<T>; at: number } | undefined
  return {
    get(): Promise<T> {
      if (current && clock.now() - current.at < lifetimeMs) return current.value
      const value = fetch()
      const mine = { value, at: clock.now() }
      current = mine
      value.catch(() => {
        if (current === mine) current = undefined
      })
      return value
    },
    ageMs: () => (current ? clock.now() - current.at : Number.POSITIVE_INFINITY),
    drop() {
      current = undefined
    },
  }
}
