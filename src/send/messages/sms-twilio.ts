import {
  accepted,
  givenUp,
  type Handover,
  mayPass,
  outOfService,
  putOff,
  toCorrect,
} from '../handover.ts'
import { attemptMs } from './mailer.ts'
import type { SmsProvider } from './sms.ts'

export interface TwilioSettings {
  account: string
  token: string
  /** A number in E.164, or the id of a messaging service. */
  from: string
  /** Where the provider's interface is. */
  url: string
  attemptMs?: number
}

/** Where the library thinks that the provider is. */
const library = 'https://api.twilio.com'
/** Only the provider answers so; a page of a proxy, for example, comes with another status. */
const created = 201
const noResponse = 'The response is not one of the provider: the address leads elsewhere.'
/** The owner of the number answered STOP. */
const unsubscribed = 21_610
/**
 * The number does not exist, takes no text messages, or is in a country that the account is not
 * enabled for (21408). That says nothing about messages to other numbers.
 */
const unreachable = new Set([
  21_211, 21_214, 21_217, 21_265, 21_266, 21_268, 21_408, 21_612, 21_614, 21_635,
])
/** The sender is not one of the account's, or the account is on trial. */
const badSender = new Set([
  21_212, 21_267, 21_603, 21_606, 21_608, 21_659, 21_660, 21_701, 21_703, 21_704, 21_705,
])
/** The queue of the sender is full. */
const queueFull = 21_611

/**
 * Text messages through the provider of the `twilio` library. It knows no repeats: a message whose
 * answer was lost may arrive twice, but is never lost.
 */
export function createTwilioSmsProvider({
  account,
  token,
  from,
  url,
  attemptMs: timeoutMs = attemptMs,
}: TwilioSettings): SmsProvider {
  const sender = from.startsWith('MG') ? { messagingServiceSid: from } : { from }
  return {
    async send({ to, text }) {
      const { messages, answered: answeredStatus } = await connection(
        account,
        token,
        url,
        timeoutMs,
      )
      try {
        const { sid } = await messages.create({ to, body: text, ...sender })
        return sid ? accepted(answeredStatus()) : outOfService(noResponse, answeredStatus())
      } catch (error) {
        return handoverOf(error, answeredStatus())
      }
    },
  }
}

/**
 * The library's modules for one resource: the whole library is ten times as big and takes a tenth
 * of a second to load.
 */
async function connection(account: string, token: string, url: string, timeoutMs: number) {
  const [{ Agent }, { Client }, requests, domains, versions, { MessageListInstance }] =
    await Promise.all([
      import('node:http'),
      import('twilio/lib/base/BaseTwilio.js'),
      import('twilio/lib/base/RequestClient.js'),
      import('twilio/lib/base/Domain.js'),
      import('twilio/lib/base/Version.js'),
      import('twilio/lib/rest/api/v2010/account/message.js'),
    ])
  const [RequestClient, Domain, Version] = [
    defaultOf(requests),
    defaultOf(domains),
    defaultOf(versions),
  ]
  const httpClient = new RequestClient({ timeout: timeoutMs, keepAlive: false })
  // Plain http would go over connections that the whole process shares and the other end may have
  // closed in the meantime.
  httpClient.axios.defaults.httpAgent = new Agent({ keepAlive: false })
  const request = httpClient.request.bind(httpClient)
  let status: number | null = null
  // The library rewrites host names by its own scheme, so the address is put in after it has.
  httpClient.request = async options => {
    const answer = await request({
      ...options,
      timeout: timeoutMs,
      uri: options.uri.replace(library, url),
    })
    status = answer.statusCode
    return answer as never
  }
  const version = new Version(
    new Domain(new Client(account, token, { httpClient }), library),
    '2010-04-01',
  )
  return {
    messages: MessageListInstance(version as Parameters<typeof MessageListInstance>[0], account),
    answered: () => status,
  }
}

/**
 * A bundler takes the whole of an old module for its default, a runtime what the module calls so.
 */
const defaultOf = <T>(module: { default: T }): T =>
  (module.default as { default?: T }).default ?? module.default

interface Failure {
  code?: unknown
  message?: unknown
}

function handoverOf(error: unknown, status: number | null): Handover {
  const { code, message } = error as Failure
  const reason = String(message)
  if (status === null || mayPass(status) || code === queueFull) return putOff(reason, status)
  // The provider created the message, but its response could not be parsed.
  if (status === created) return accepted(status)
  if (status < 400) return outOfService(noResponse, status)
  if (code === unsubscribed) return givenUp(reason, status, 'refused')
  if (typeof code === 'number' && unreachable.has(code)) return givenUp(reason, status, 'address')
  // 404: the account in the address does not exist.
  const isOurs = [401, 403, 404].includes(status) || badSender.has(Number(code))
  if (isOurs) return toCorrect(reason, status)
  return givenUp(reason, status)
}
