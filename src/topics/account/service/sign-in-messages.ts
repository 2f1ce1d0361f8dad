import { dayMs } from '../../../lib/time/instant.ts'
import type { MailMessage } from '../../messages/service/mail.ts'

type Text = Pick<MailMessage, 'subject' | 'text' | 'html'>

const paragraph = (text: string) => `<p>${Bun.escapeHTML(text).replaceAll('\n', '<br>')}</p>`
const button = (url: string, label: string) =>
  `<p><a href="${Bun.escapeHTML(url)}">${Bun.escapeHTML(label)}</a></p>`

/** Paragraphs of text with one address among them, as plain text and as HTML. */
const written = (
  subject: string,
  before: readonly string[],
  label: string,
  url: string,
  after: readonly string[],
): Text => ({
  subject,
  text: `${[...before, url, ...after].join('\n\n')}\n`,
  html: [...before.map(paragraph), button(url, label), ...after.map(paragraph)].join('\n'),
})

export const signInLinkMessage = (serviceName: string, url: string, minutes: number): Text =>
  written(
    `Sign in to ${serviceName}`,
    [`A sign-in link was requested for ${serviceName} with this address.`],
    `Sign in to ${serviceName}`,
    url,
    [
      `It works once, within ${minutes} minutes.`,
      "Didn't request this? You can ignore this e-mail.",
    ],
  )

export interface InvitationMessage {
  serviceName: string
  organization: string
  invitedBy: string
  /** The role of the invited user, as `a member`. */
  role: string
  /** Whether the inviting user wrote something, which only the page of the invitation shows. */
  hasMessage: boolean
  days: number
  url: string
}

export const invitationMessage = ({
  serviceName,
  organization,
  invitedBy,
  role,
  hasMessage,
  days,
  url,
}: InvitationMessage): Text =>
  written(
    `${invitedBy} invites you to ${organization} on ${serviceName}`,
    [
      `${invitedBy} invites you to be ${role} of the organization ${organization} on ${serviceName}.`,
      ...(hasMessage
        ? [`${invitedBy} wrote you a message: it is on the page of the invitation.`]
        : []),
    ],
    'View the invitation',
    url,
    [`It is open for ${days} days and works once. Nothing happens until you accept it.`],
  )

/**
 * `lifetimeMs`: how long the link is valid. `isInvited`: the operator sent it, and not the user.
 */
export const signUpMessage = (
  serviceName: string,
  url: string,
  lifetimeMs: number,
  isInvited: boolean,
): Text =>
  written(
    isInvited ? `An account on ${serviceName}` : `Confirm your address for ${serviceName}`,
    [
      isInvited
        ? `The operator of ${serviceName} has invited you to create an account.`
        : `An account was requested on ${serviceName} with this address.`,
    ],
    'Make the account',
    url,
    [
      `The link is valid for ${lifetimeMs > dayMs ? `${lifetimeMs / dayMs} days` : '24 hours'}. The account is on the free plan and costs nothing.`,
      "Didn't request this? You can ignore this e-mail; no account is created.",
    ],
  )

/** What a request for a sign-in link is answered, the same for addresses without an account. */
export const signInLinkText = (reachesMail: boolean): string =>
  reachesMail
    ? 'If the address has an account, a sign-in link has been sent.'
    : 'No e-mail was sent, because this service has no mail provider. The operator can create a sign-in link.'
