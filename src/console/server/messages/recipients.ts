import { t } from 'elysia'
import type { AccessPlugin } from '../../../http/gate/access.ts'
import { readForm } from '../../../http/input/body.ts'
import { RouteList } from '../../../http/route-list.ts'
import type { Recipient, Recipients } from '../../../topics/messages/service/recipients.ts'
import { escaped, pageAnswer } from '../page.ts'

export interface RecipientPagesDeps {
  access: AccessPlugin
  recipients: Recipients
  serviceName: string
}

// A mail provider ends the letters of many people from one address.
const access = { open: 'The link in a letter is the proof.', rate: 'none' } as const
const query = t.Object({ token: t.Optional(t.String()) })
const form = t.Optional(t.Any())
const parse = ({ request }: { request: Request }) => readForm(request)

interface Wording {
  path: '/mail/agree' | '/mail/unsubscribe'
  operation: string
  title: string
  question: (address: string) => string
  button: string
  done: string
}

const agreeing: Wording = {
  path: '/mail/agree',
  operation: 'Agree',
  title: 'Prices by mail',
  question: address => `Somebody wants prices to be mailed to <strong>${address}</strong>.`,
  button: 'I want them',
  done: 'From now on they are sent. Each of the letters has a link that ends them.',
}
const ending: Wording = {
  path: '/mail/unsubscribe',
  operation: 'End',
  title: 'No more letters',
  question: address => `End the scheduled letters to <strong>${address}</strong>?`,
  button: 'End them',
  done: 'No more of these letters are sent.',
}

/**
 * Where the links of letters lead. Opening a page changes nothing, because programs open links
 * too; the POST does, which mail programs send by themselves (RFC 8058) and from no page of ours.
 */
export const recipientRoutes = (deps: RecipientPagesDeps) =>
  new RouteList({ tags: ['pages'], detail: { hide: true } })
    .use(pages(deps, agreeing, deps.recipients.confirm))
    .use(pages(deps, ending, deps.recipients.decline))

function pages(
  { access: plugin, recipients, serviceName }: RecipientPagesDeps,
  { path, operation, title, question, button, done }: Wording,
  change: (recipient: Recipient) => void,
) {
  const answer = (token: string | undefined, body: (recipient: Recipient) => string) => {
    const recipient = token === undefined ? undefined : recipients.read(token)
    return recipient
      ? pageAnswer({ serviceName, title, body: body(recipient) })
      : pageAnswer(
          { serviceName, title, body: '<p class="notice wrong">This link is not whole.</p>' },
          { status: 404 },
        )
  }
  return new RouteList()
    .use(plugin)
    .get(
      path,
      ({ query: { token } }) =>
        answer(
          token,
          ({ address }) =>
            `<p>${question(escaped(address))}</p>\n<form method="post" action="${path}?token=${escaped(token!)}"><button>${button}</button></form>`,
        ),
      {
        access,
        query,
        detail: { operationId: `show${operation}Letters`, summary: title },
      },
    )
    .post(
      path,
      ({ query: { token } }) =>
        answer(token, recipient => {
          change(recipient)
          return `<p class="notice" role="status">${done}</p>`
        }),
      {
        access,
        query,
        body: form,
        parse,
        detail: { operationId: `take${operation}Letters`, summary: title },
      },
    )
}
