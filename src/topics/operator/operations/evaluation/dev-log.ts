import { t } from '../../../../http/answer/schema.ts'
import type { DevControls } from '../../../../http/dev-controls.ts'
import { boolOf, integerOf, wordOf } from '../../../../http/input/query.ts'
import type { Context } from '../../../../http/operations/context.ts'
import { operation } from '../../../../http/operations/operation.ts'
import { notFound } from '../../../../http/problem/problem.ts'
import { type LoggedRequest, loggedRequestsMax } from '../../../../http/request-log.ts'
import { keyedHash } from '../../../../lib/secrets/keyed-hash.ts'
import { isoInstant } from '../../../../lib/time/instant.ts'
import type { Channel, InboxMessage } from '../../../../outbox/store/inbox.ts'
import { logRow } from '../../../webhooks/operations/row.ts'
import { lanedTarget } from '../../../webhooks/service/event-messages.ts'

export interface DevLogDeps
  extends Pick<DevControls, 'requests' | 'settle'>,
    Pick<Context, 'inbox' | 'keys' | 'masterKey' | 'outbox' | 'webhooks'> {}

export const open = t.Object({}, { additionalProperties: true })

/** The common parts of the controls of a demo instance. */
export const devRead = {
  hidden: true,
  access: { operator: 'service', unaudited: true },
  answers: open,
} as const
const limitDefault = 100
const channels: readonly Channel[] = ['email', 'sms']

/** Requests that a demo instance received, and e-mails, texts and webhooks that it sent. */
export const devLogOperations = (deps: DevLogDeps) => [
  ...inboxOperations(deps),
  ...deliveryOperations(deps),
  ...requestOperations(deps),
]

function inboxOperations({ inbox, settle, masterKey }: DevLogDeps) {
  const proofOf = (number: number): string =>
    Buffer.from(keyedHash(masterKey, 'e-mail of the inbox', String(number))).toString('hex')
  /** A frame sends no token: the address is the proof, as it is of a link in an e-mail. */
  const mailMessageUrl = (message: InboxMessage): string | null =>
    message.html === null ? null : `/_dev/letters/${message.number}.${proofOf(message.number)}`
  return [
    operation('GET /_dev/inbox', {
      operationId: 'devListInbox',
      summary: 'Captured e-mail and text messages, oldest first',
      ...devRead,
      query: { channel: t.Optional(t.String()) },
      handle: async ({ query }) => {
        const channel = wordOf('channel', query.channel, undefined, channels)
        await settle()
        return {
          messages: inbox
            .list(channel)
            .map(message => ({ ...messageRow(message), letter_url: mailMessageUrl(message) })),
        }
      },
    }),
    operation('GET /_dev/letters/:name', {
      operationId: 'devShowLetter',
      summary: 'Get a captured e-mail as a page',
      hidden: true,
      access: { open: 'Only readers of the inbox know its URL.', rate: 'none' },
      params: { name: t.String() },
      handle: ({ params: { name } }) => {
        const [number = '', proof] = name.split('.')
        const message = proof === proofOf(Number(number)) ? inbox.find(Number(number)) : undefined
        if (!message?.html) throw notFound('The e-mail')
        return new Response(mailMessagePage(message.html), { headers: mailMessageHeaders })
      },
    }),
  ]
}

/**
 * Shows an e-mail as a mail program would: only its own styles apply. It cannot run scripts, submit
 * forms, make requests or read anything of ours, because it has no origin; its links open in a new
 * window.
 */
const mailMessageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'private, no-store',
  'content-security-policy': [
    "default-src 'none'",
    "style-src 'unsafe-inline'",
    'img-src data: cid:',
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'self'",
    'sandbox allow-popups allow-popups-to-escape-sandbox',
  ].join('; '),
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'SAMEORIGIN',
}

/** E-mails are written on white paper, whatever the window around them is. */
const mailMessagePage = (html: string): string =>
  `<!doctype html><meta charset="utf-8"><meta name="color-scheme" content="light"><base target="_blank"><style>:root{background:#fff;color:#15242a;font:15px/1.5 system-ui,sans-serif}body{margin:1rem;overflow-wrap:anywhere}</style>${html}`

const deliveryOperations = ({ outbox, webhooks, keys, settle }: DevLogDeps) => [
  operation('GET /_dev/deliveries', {
    operationId: 'devListDeliveries',
    summary: 'Webhook deliveries of every account, newest first',
    ...devRead,
    query: { limit: t.Optional(t.String()) },
    handle: async ({ query }) => {
      await settle()
      const deliveries = outbox.log.newest('webhook', limitOf(query.limit)).map(entry => {
        const endpoint = webhooks.byId(entry.lane)
        const account = entry.accountId ?? endpoint?.accountId
        return {
          ...logRow(entry.lane, entry),
          url: endpoint?.url ?? lanedTarget(entry.lane)?.url ?? null,
          account: account === undefined ? null : (keys.account(account)?.account.email ?? null),
        }
      })
      return { deliveries }
    },
  }),
]

const requestOperations = ({ requests }: DevLogDeps) => [
  operation('GET /_dev/requests', {
    operationId: 'devListRequests',
    summary: 'Requests that were answered, newest first, and why they were refused',
    ...devRead,
    query: {
      refused: t.Optional(t.String()),
      path: t.Optional(t.String()),
      limit: t.Optional(t.String()),
    },
    handle: ({ query }) => {
      const { requests: logged, total } = requests.list(
        { isRefused: boolOf('refused', query.refused, false), path: query.path },
        limitOf(query.limit),
      )
      return { requests: logged.map(requestRow), total, kept: loggedRequestsMax }
    },
  }),
  operation('DELETE /_dev/requests', {
    operationId: 'devClearRequests',
    summary: 'Forget the requests',
    ...devRead,
    handle: () => {
      requests.clear()
      return { requests: [] }
    },
  }),
]

export type ReceivedRequest = ReturnType<typeof requestRow>

const limitOf = (text: string | undefined): number =>
  integerOf('limit', text, limitDefault, 1, loggedRequestsMax)

export type CapturedMessage = ReturnType<typeof messageRow>

const messageRow = ({
  number,
  channel,
  to,
  subject,
  text,
  html,
  attachments,
  at,
}: InboxMessage) => ({
  id: number,
  channel,
  to,
  subject,
  text,
  html,
  attachments: attachments.map(({ filename, contentType, content, encoding }) => ({
    filename,
    content_type: contentType,
    content,
    encoding,
  })),
  at: isoInstant(at),
})

const requestRow = ({
  number,
  at,
  requestId,
  durationMs,
  caller,
  actor,
  ...rest
}: LoggedRequest) => ({
  number,
  at: isoInstant(at),
  request_id: requestId,
  method: rest.method,
  path: rest.path,
  route: rest.route ?? null,
  status: rest.status,
  ms: durationMs,
  key: caller
    ? {
        id: caller.keyId,
        name: caller.keyName,
        account: caller.email,
        is_session: caller.isSession,
      }
    : null,
  operator: actor ?? null,
  body: rest.body ?? null,
  refusal: rest.refusal ?? null,
})
