import type { AccountState } from '../../../src/topics/keys/service/keyring.ts'
import { sealContext } from '../../../src/topics/messages/service/mail.ts'
import { openTestInstance, type TestInstance } from '../instance/instance.ts'

export interface Person {
  account: AccountState
  email: string
  /** Token of an API key. */
  key: string
}

export interface Asked {
  status: number
  body: Record<string, unknown>
  headers: Headers
}

export interface People extends TestInstance {
  person(name: string, plan?: string): Person
  /** Signs a user in with a link and returns the session token. */
  signedIn(person: Person): Promise<string>
  /** A request with whatever is in `authorization`. */
  ask(
    method: string,
    path: string,
    authorization?: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Asked>
  /** E-mails that would have been sent to an address, oldest first. */
  mailMessages(to: string): { subject: string; text: string }[]
}

/** An instance with people in it. */
export function people(flags: Record<string, string> = {}): People {
  const instance = openTestInstance({
    'limits.per_minute': '100000',
    'limits.unauthenticated_per_minute': '100000',
    ...flags,
  })
  const { app, services } = instance
  const ask: People['ask'] = async (method, path, authorization, body, headers = {}) => {
    const response = await app.handle(
      new Request(`http://localhost${path}`, {
        method,
        headers: {
          ...(authorization && { authorization }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      }),
    )
    const text = await response.text()
    return {
      status: response.status,
      body: text.startsWith('{') ? JSON.parse(text) : { text },
      headers: response.headers,
    }
  }
  return {
    ...instance,
    ask,
    person(name, plan = 'enterprise') {
      const email = `${name}@example.com`
      const key = instance.key(plan, { email })
      return { account: services.keys.accountByEmail(email)!, email, key }
    },
    async signedIn({ account }) {
      const answer = await ask('POST', '/v1/auth/session', undefined, {
        link_token: services.signIn.makeLink(account),
      })
      return (answer.body.data as { token: string }).token
    },
    mailMessages: to => mailMessagesTo(services, to),
  }
}

/** The 64 hexadecimal characters in a text. */
export const tokenIn = (text: string): string => /[0-9a-f]{64}/.exec(text)?.[0] ?? ''

export const codeOf = ({ body }: Asked): unknown =>
  body.code ?? (body.error as { code?: string } | undefined)?.code

/** E-mails in the outbox to an address, oldest first. */
export function mailMessagesTo(
  services: Pick<TestInstance['services'], 'db' | 'vault'>,
  to: string,
): { subject: string; text: string }[] {
  const rows = services.db
    .query(
      "SELECT event_id AS eventId, body FROM outbox JOIN outbox_bodies b ON b.id = body_id WHERE event_type = 'email' ORDER BY number",
    )
    .all() as { eventId: string; body: string }[]
  const opened = ({ eventId, body }: { eventId: string; body: string }) => {
    const { sealed } = JSON.parse(body) as { sealed?: string }
    const text =
      sealed === undefined
        ? body
        : services.vault.open(sealContext(eventId), Buffer.from(sealed, 'base64'))
    return JSON.parse(text) as { to: string; subject: string; text: string }
  }
  return rows.map(opened).filter(mailMessage => mailMessage.to === to)
}

/** The sign-up token in the newest e-mail to an address. */
export function signUpToken(
  services: Pick<TestInstance['services'], 'db' | 'vault'>,
  to: string,
): string {
  const text = mailMessagesTo(services, to).at(-1)?.text ?? ''
  const token = /\/signup\?token=([\w-]+)/.exec(text)?.[1]
  if (token === undefined) throw new Error(`no e-mail to ${to} has a link to sign up: ${text}`)
  return token
}
