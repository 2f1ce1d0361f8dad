import { t } from '../../../http/answer/schema.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { escaped } from '../../../lib/text/html.ts'
import type { Recipient } from '../../../topics/messages/service/recipients.ts'
import { formBody, pageAnswer } from '../page.ts'

// A mail provider ends the e-mails of many users from one address.
const access = { open: 'The link in the e-mail is the proof.', rate: 'none' } as const
const query = t.Object({ token: t.Optional(t.String()) })

interface Wording {
  path: '/mail/agree' | '/mail/unsubscribe'
  name: string
  title: string
  question: (address: string) => string
  button: string
  done: string
}

const agreeing: Wording = {
  path: '/mail/agree',
  name: 'Agree',
  title: 'Prices by e-mail',
  question: address =>
    `A user has asked to send scheduled price e-mails to <strong>${address}</strong>.`,
  button: 'Confirm',
  done: 'Confirmed. Every e-mail has an unsubscribe link.',
}
const ending: Wording = {
  path: '/mail/unsubscribe',
  name: 'End',
  title: 'Unsubscribe',
  question: address => `Unsubscribe <strong>${address}</strong>?`,
  button: 'Unsubscribe',
  done: 'You will receive no more of these e-mails.',
}

/**
 * Where the links of letters lead. Opening a page changes nothing, because programs open links
 * too; the POST does, which mail programs send by themselves (RFC 8058) and from no page of ours.
 */
export const recipientOperations = (deps: Context) => [
  ...pages(deps, agreeing, deps.recipients.confirm),
  ...pages(deps, ending, deps.recipients.decline),
]

function pages(
  { recipients, serviceName }: Context,
  { path, name, title, question, button, done }: Wording,
  change: (recipient: Recipient) => void,
) {
  const answer = (token: string | undefined, body: (recipient: Recipient) => string) => {
    const recipient = token === undefined ? undefined : recipients.read(token)
    return recipient
      ? pageAnswer({ serviceName, title, body: body(recipient) })
      : pageAnswer(
          { serviceName, title, body: '<p class="notice wrong">This link is incomplete.</p>' },
          { status: 404 },
        )
  }
  return [
    operation(`GET ${path}`, {
      hidden: true,
      operationId: `show${name}Letters`,
      summary: title,
      access,
      query: query.properties,
      handle: ({ query: { token } }) =>
        answer(
          token,
          ({ address }) =>
            `<p>${question(escaped(address))}</p>\n<form method="post" action="${path}?token=${escaped(token!)}"><button>${button}</button></form>`,
        ),
    }),
    operation(`POST ${path}`, {
      hidden: true,
      operationId: `take${name}Letters`,
      summary: title,
      access,
      query: query.properties,
      ...formBody,
      handle: ({ query: { token } }) =>
        answer(token, recipient => {
          change(recipient)
          return `<p class="notice" role="status">${done}</p>`
        }),
    }),
  ]
}
