import { createHash } from 'node:crypto'
import { t } from '../../../http/answer/schema.ts'
import { requireAction } from '../../../http/gate/permission.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { Problem } from '../../../http/problem/problem.ts'
import { isLoopbackName } from '../../../lib/text/loopback.ts'
import { minuteMs } from '../../../lib/time/instant.ts'
import { isActive } from '../../../topics/keys/service/key-changes.ts'
import { type AccountState, heldKeys } from '../../../topics/keys/service/keyring.ts'
import { pageAnswer, seeOther } from '../page.ts'
import { fieldsOf, frame, posted, showing, taking } from './sign-in.ts'
import { consentForm, message } from './sign-in-pages.ts'

const path = '/oauth'
const codeMs = minuteMs
const codesMax = 1_000
const nameMax = 60
const addressMax = 500
const addressesMax = 5

/** What an assistant says about itself. Its id is this as text, so that nothing is stored. */
interface Assistant {
  name: string
  redirects: string[]
}

/** The proof that a person agreed, until the assistant redeems it for a key. */
interface Grant {
  holder: AccountState
  assistant: Assistant
  redirect: string
  challenge: string
  until: number
}

const idOf = ({ name, redirects }: Assistant): string =>
  Buffer.from(JSON.stringify([name, ...redirects])).toString('base64url')

function assistantOf(id: string | null): Assistant | undefined {
  try {
    const [name, ...redirects] = JSON.parse(Buffer.from(id ?? '', 'base64url').toString())
    return assistantFrom({ client_name: name, redirect_uris: redirects })
  } catch {
    return undefined
  }
}

/** Scripts and files are not addresses of assistants. */
const refusedSchemes = ['javascript:', 'data:', 'blob:', 'file:', 'about:', 'vbscript:']

/** An https address, a program's own scheme, or http on this machine. */
function isRedirect(address: unknown): address is string {
  if (typeof address !== 'string' || address.length > addressMax) return false
  const url = URL.parse(address)
  if (url?.hash !== '' || url.username !== '' || refusedSchemes.includes(url.protocol)) return false
  return url.protocol !== 'http:' || isLoopbackName(url.hostname)
}

function assistantFrom(body: unknown): Assistant | undefined {
  const { client_name: name = '', redirect_uris: redirects } = (body ?? {}) as Record<
    string,
    unknown
  >
  if (typeof name !== 'string' || !Array.isArray(redirects) || !redirects.every(isRedirect))
    return undefined
  const isEnough = redirects.length > 0 && redirects.length <= addressesMax
  return isEnough ? { name: name.trim().slice(0, nameMax) || 'Assistant', redirects } : undefined
}

/** Programs on a person's machine take any free port (RFC 8252). */
function isSameRedirect(registered: string, sent: string): boolean {
  if (registered === sent) return true
  const [one, other] = [URL.parse(registered), URL.parse(sent)]
  if (!one || !other || other.protocol !== 'http:' || !isLoopbackName(other.hostname)) return false
  one.port = other.port
  return one.href === other.href
}

/** The fields of a request for consent, which the form sends on. */
const requestFields = [
  'client_id',
  'redirect_uri',
  'response_type',
  'code_challenge',
  'code_challenge_method',
  'state',
  'scope',
  'resource',
] as const

const answered = (address: string, parameters: Record<string, string | null>): string => {
  const url = new URL(address)
  for (const [name, value] of Object.entries(parameters))
    if (value !== null) url.searchParams.set(name, value)
  return url.href
}

/**
 * How assistants get a key without a person copying it (OAuth 2.1: authorization code with PKCE,
 * RFC 8414 metadata, RFC 7591 registration): a signed-in person agrees, and the access token is a
 * read-only key of that person, which the list of keys shows and revokes.
 */
export function connectOperations(context: Context) {
  const { ids, now, ownUrl, keyChanges, serviceName, audit } = context
  const { personOf, form } = frame(context)
  const grants = new Map<string, Grant>()

  const refused = (text: string) =>
    pageAnswer(
      { serviceName, title: 'Connect an assistant', body: message({ text, wrong: true }) },
      { status: 400 },
    )
  /**
   * What a request asks for. A page where it asks wrongly: no browser is sent to an address
   * that an assistant gave itself before the person has agreed.
   */
  const requested = (fields: URLSearchParams) => {
    const assistant = assistantOf(fields.get('client_id'))
    const redirect = fields.get('redirect_uri') ?? assistant?.redirects[0] ?? ''
    if (!assistant?.redirects.some(address => isSameRedirect(address, redirect)))
      return refused('The assistant is not registered, or its redirect address is another one.')
    const challenge = fields.get('code_challenge') ?? ''
    if (
      fields.get('response_type') !== 'code' ||
      fields.get('code_challenge_method') !== 'S256' ||
      challenge.length !== 43
    )
      return refused('The assistant must use an authorization code with PKCE (S256).')
    const leave = (parameters: Record<string, string>) =>
      seeOther(answered(redirect, { ...parameters, state: fields.get('state'), iss: ownUrl() }))
    return { assistant, redirect, challenge, leave }
  }

  /** The key of the assistant: the one that it had, with a new token, or a new one. */
  const keyFor = ({ holder, assistant }: Grant) => {
    const name = `${assistant.name} (assistant)`
    const had = heldKeys(holder).find(
      state => state.key.name === name && state.key.readOnly && isActive(state, now()),
    )
    return had ? keyChanges.rollKey(had) : keyChanges.createKey(holder, { name, readOnly: true })
  }

  return [
    operation('GET /.well-known/oauth-authorization-server', {
      operationId: 'getAuthorizationServer',
      summary: 'Get the authorization server',
      hidden: true,
      access: showing,
      answers: { 200: t.Object({}, { additionalProperties: true }) },
      handle: () => ({
        issuer: ownUrl(),
        authorization_endpoint: `${ownUrl()}${path}/authorize`,
        token_endpoint: `${ownUrl()}${path}/token`,
        registration_endpoint: `${ownUrl()}${path}/register`,
        response_types_supported: ['code'],
        grant_types_supported: ['authorization_code'],
        code_challenge_methods_supported: ['S256'],
        token_endpoint_auth_methods_supported: ['none'],
        authorization_response_iss_parameter_supported: true,
        service_documentation: `${ownUrl()}/docs/assistants`,
      }),
    }),
    operation(`POST ${path}/register`, {
      operationId: 'registerAssistant',
      summary: 'Register an assistant',
      hidden: true,
      access: { ...taking, body: true },
      body: t.Optional(t.Any()),
      handle: ({ body, reply }) => {
        reply.headers['cache-control'] = 'no-store'
        const assistant = assistantFrom(body)
        reply.status = assistant ? 201 : 400
        return assistant
          ? {
              client_id: idOf(assistant),
              client_name: assistant.name,
              redirect_uris: assistant.redirects,
              grant_types: ['authorization_code'],
              response_types: ['code'],
              token_endpoint_auth_method: 'none',
            }
          : {
              error: 'invalid_redirect_uri',
              error_description: `redirect_uris must be 1 to ${addressesMax} https addresses, or addresses of a program on the person's machine.`,
            }
      },
    }),
    operation(`GET ${path}/authorize`, {
      operationId: 'showConsent',
      summary: 'Ask a person for consent',
      hidden: true,
      access: showing,
      query: Object.fromEntries(requestFields.map(name => [name, t.Optional(t.String())])),
      handle: ({ request }) => {
        const { pathname, search, searchParams } = new URL(request.url)
        const wanted = requested(searchParams)
        if (wanted instanceof Response) return wanted
        const person = personOf(request)
        if (!person) return seeOther(`/sign-in?next=${encodeURIComponent(pathname + search)}`)
        const { assistant, redirect } = wanted
        const { protocol, origin, host } = new URL(redirect)
        const isWeb = protocol === 'https:' || protocol === 'http:'
        return pageAnswer({
          serviceName,
          title: 'Connect an assistant',
          formsTo: isWeb ? origin : protocol,
          body: consentForm({
            action: `${path}/authorize`,
            name: assistant.name,
            place: isWeb ? host : protocol,
            email: person.key.holder.account.email,
            fields: requestFields.map(name => [name, searchParams.get(name) ?? '']),
          }),
        })
      },
    }),
    form(`${path}/authorize`, 'giveConsent', 'Agree to an assistant', (fields, request) => {
      const wanted = requested(fields)
      if (wanted instanceof Response) return wanted
      const { leave, ...grant } = wanted
      const person = personOf(request)
      if (!person || fields.get('agreed') !== 'yes') return leave({ error: 'access_denied' })
      try {
        requireAction(person.key, 'change_keys')
      } catch (error) {
        if (!(error instanceof Problem)) throw error
        return refused(error.message)
      }
      for (const [code, { until }] of grants) if (until <= now()) grants.delete(code)
      if (grants.size >= codesMax) return leave({ error: 'temporarily_unavailable' })
      const code = ids.token()
      grants.set(code, { ...grant, holder: person.key.holder, until: now() + codeMs })
      return leave({ code })
    }),
    operation(`POST ${path}/token`, {
      ...posted('redeemConsent', 'Redeem consent for a key'),
      access: { ...taking, body: true },
      handle: ({ body, reply }) => {
        reply.headers['cache-control'] = 'no-store'
        const fields = fieldsOf(body)
        const refuse = (error: string, error_description: string) => {
          reply.status = 400
          return { error, error_description }
        }
        if (fields.get('grant_type') !== 'authorization_code')
          return refuse('unsupported_grant_type', 'grant_type must be authorization_code.')
        const code = fields.get('code') ?? ''
        const grant = grants.get(code)
        // Each code is valid once, whatever else is wrong.
        grants.delete(code)
        const challenge = createHash('sha256').update(fields.get('code_verifier') ?? '')
        if (
          !grant ||
          grant.until <= now() ||
          fields.get('client_id') !== idOf(grant.assistant) ||
          (fields.get('redirect_uri') ?? grant.redirect) !== grant.redirect ||
          challenge.digest('base64url') !== grant.challenge
        )
          return refuse(
            'invalid_grant',
            'The code is unknown, used, expired or not for this client.',
          )
        const made = keyFor(grant)
        if ('refused' in made)
          return refuse(
            'invalid_grant',
            'The account has as many active API keys as its plan allows.',
          )
        const { id } = grant.holder.account
        audit.note({
          actor: `person ${id}`,
          accountId: id,
          action: 'connect an assistant',
          thing: `key ${made.state.key.id}`,
          outcome: 'done',
        })
        return { access_token: made.token, token_type: 'Bearer' }
      },
    }),
  ]
}
