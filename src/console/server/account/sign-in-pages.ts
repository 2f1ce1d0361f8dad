import { renderSVG } from 'uqr'
import { escaped } from '../../../lib/text/html.ts'
import { memberWords, type Role } from '../../../plans/roles/roles.ts'

export interface Notice {
  text: string
  wrong?: boolean
}

const noticeOf = (notice: Notice | undefined): string =>
  notice
    ? `<p class="notice${notice.wrong ? ' wrong' : ''}" role="status">${escaped(notice.text)}</p>\n`
    : ''

const hidden = (name: string, value: string) =>
  `<input type="hidden" name="${name}" value="${escaped(value)}">`
const form = (action: string, body: string, row = false) =>
  `<form method="post" action="${action}"${row ? ' class="row"' : ''}>\n${body}\n</form>\n`
const field = (label: string, name: string, attributes: string) =>
  `<label>${escaped(label)}<input name="${name}" ${attributes}></label>`

/** The page to continue at after signing in. */
const nextField = (next: string | undefined): string[] =>
  next === undefined ? [] : [hidden('next', next)]

/** The sign-in forms for a user without a session. */
export const signInForms = (notice?: Notice, next?: string, company?: CompanyButton): string =>
  noticeOf(notice) + companyLink(next, company) + (company?.isOnly ? '' : ownForms(next))

/** Whether people sign in at the company's identity provider, and in no other way. */
interface CompanyButton {
  isOnly: boolean
}

// A link and no form: the policy of the page lets forms lead to this site only.
const companyLink = (next: string | undefined, company: CompanyButton | undefined): string =>
  company === undefined
    ? ''
    : `<p><a class="button" href="/sign-in/company${next === undefined ? '' : `?next=${encodeURIComponent(next)}`}">Sign in with your company account</a></p>\n`

const ownForms = (next: string | undefined): string =>
  form(
    '/sign-in',
    [
      field('E-mail address', 'email', 'type="email" autocomplete="username" required'),
      field('Password', 'password', 'type="password" autocomplete="current-password" required'),
      ...nextField(next),
      '<button>Sign in</button>',
      // A link needs no password, which the browser would ask for.
      '<button class="plain" formaction="/sign-in/link" formnovalidate>Mail me a link</button>',
    ].join('\n'),
  )

/** The form for the second factor. */
export const codeForm = (twoFactorStep: string, notice?: Notice, next?: string): string =>
  noticeOf(notice) +
  form(
    '/sign-in',
    [
      field(
        'Authenticator code or recovery code',
        'code',
        'autocomplete="one-time-code" autocapitalize="none" spellcheck="false" required autofocus',
      ),
      hidden('second_step', twoFactorStep),
      ...nextField(next),
      '<button>Sign in</button>',
    ].join('\n'),
  )

/** A text as a picture that a camera reads: shapes alone, which the policy of the pages lets through. */
const qrCode = (text: string): string =>
  `<figure role="img" aria-label="QR code of the key">${renderSVG(text, { border: 4 })}</figure>\n`

/**
 * Two-factor authentication of the signed-in user: set up, turned on by a first code, or turned off
 * by one.
 */
function secondFactorForms({ state, waiting, recoveryCodesLeft }: SecondFactorView): string {
  const code = field('Code', 'code', 'autocomplete="one-time-code" required')
  if (state === 'on')
    return `<p>Two-factor authentication is on. ${recoveryCodesLeft} recovery codes are left.</p>\n${form('/sign-in/second-step/off', `${code}\n<button class="plain">Turn off</button>`)}`
  if (!waiting)
    return `<p>Protect sign-in with a code of an authenticator app.</p>\n${form('/sign-in/second-step', '<button class="plain">Set up</button>')}`
  const grouped = waiting.secret.match(/.{1,4}/g)!.join(' ')
  return `<p>Scan this code with your authenticator app, <a href="${escaped(waiting.url)}">open the app</a>, or enter the key: <code>${grouped}</code></p>\n${qrCode(waiting.url)}${form('/sign-in/second-step/on', `${code}\n<button>Enable</button>`)}`
}

/** Shown once: they are nowhere at rest. */
export const recoveryCodesPage = (codes: readonly string[]): string =>
  `${noticeOf({ text: 'Two-factor authentication is on. All other sessions of this account are signed out.' })}<p>Each code signs you in once without your authenticator. Store them separately; they are shown only once.</p>\n<pre>${codes.map(escaped).join('\n')}</pre>\n<p><a href="/sign-in">Go to your account</a></p>\n`

/** The press of the button uses the link up; opening the page does not. */
export const linkForm = (token: string, email: string, next?: string): string =>
  form(
    '/sign-in',
    [
      `<p>This link signs you in as <strong>${escaped(email)}</strong>, once.</p>`,
      hidden('token', token),
      ...nextField(next),
      '<button>Sign in</button>',
    ].join('\n'),
  )

interface SecondFactorView {
  state: 'off' | 'waiting' | 'on'
  /** The secret, until its first code confirms it. */
  waiting: { secret: string; url: string } | undefined
  recoveryCodesLeft: number
}

interface SignedInPage {
  email: string
  planName: string
  organization: { name: string; role: Role } | undefined
  keys: readonly { name: string | null; hint: string; active: boolean }[]
  /** A new password must come with the old one. */
  needsPassword: boolean
  secondFactor: SecondFactorView
}

export function signedInPage(
  { email, planName, organization, keys, needsPassword, secondFactor }: SignedInPage,
  notice?: Notice,
): string {
  const where = organization
    ? ` You are ${memberWords[organization.role]} of the organization ${escaped(organization.name)}.`
    : ''
  const rows = keys.map(
    ({ name, hint, active }) =>
      `<tr><td>${escaped(name ?? 'unnamed')}</td><td>${escaped(hint)}</td><td>${active ? 'active' : 'ended'}</td></tr>`,
  )
  return [
    noticeOf(notice),
    `<p>You are signed in as <strong>${escaped(email)}</strong>. Plan: ${escaped(planName)}.${where}</p>\n<p><a href="/market">Open the market</a></p>\n`,
    form('/sign-out', '<button class="plain">Sign out</button>', true),
    form(
      '/sign-out',
      `${hidden('all', 'true')}<button class="plain">Sign out everywhere</button>`,
      true,
    ),
    `<h2>API keys</h2>\n<table>\n${rows.join('\n')}\n</table>\n<p>How to call the API: <a href="/docs">documentation</a>.</p>\n`,
    '<h2>Set a password</h2>\n',
    form(
      '/sign-in/password',
      [
        ...(needsPassword
          ? [
              field(
                'Current password',
                'current',
                'type="password" autocomplete="current-password" required',
              ),
            ]
          : []),
        field(
          'New password, at least 10 characters',
          'password',
          'type="password" autocomplete="new-password" minlength="10" required',
        ),
        '<button>Set password</button>',
      ].join('\n'),
    ),
    '<h2>Two-factor authentication</h2>\n',
    secondFactorForms(secondFactor),
  ].join('')
}

interface InvitationPage {
  token: string
  organization: string
  invitedBy: string
  role: Role
  /**
   * The message of the inviter. It is never e-mailed, because unverified recipients get no text of
   * an account.
   */
  message: string | null
  /** The user that the button accepts for: the signed-in user, or the invited address. */
  as: string
}

export const invitationPage = ({
  token,
  organization,
  invitedBy,
  role,
  message: words,
  as,
}: InvitationPage): string =>
  form(
    '/invitation',
    [
      `<p>${escaped(invitedBy)} invites you to be ${memberWords[role]} of the organization <strong>${escaped(organization)}</strong>.</p>`,
      `<p>When you accept, the API keys and sessions of <strong>${escaped(as)}</strong> use the organization's account until you leave it.</p>`,
      ...(words === null ? [] : [`<p>Message: ${escaped(words)}</p>`]),
      hidden('token', token),
      `<button>Accept as ${escaped(as)}</button>`,
    ].join('\n'),
  )

interface ConsentForm {
  action: string
  /** What the assistant calls itself. */
  name: string
  /** Where the key goes. */
  place: string
  email: string
  fields: readonly (readonly [name: string, value: string])[]
}

export const consentForm = ({ action, name, place, email, fields }: ConsentForm): string =>
  form(
    action,
    [
      `<p>A program that calls itself <strong>${escaped(name)}</strong> at <strong>${escaped(place)}</strong> wants to read data as <strong>${escaped(email)}</strong>.</p>`,
      '<p>It gets a read-only API key: it can read prices and account data under your plan, but cannot change anything. You can revoke the key on your account page.</p>',
      ...fields.map(([field, value]) => hidden(field, value)),
      '<button name="agreed" value="yes">Allow</button>',
      '<button name="agreed" value="no" class="plain">Refuse</button>',
    ].join('\n'),
  )

export const message = (notice: Notice, link?: { href: string; text: string }): string =>
  noticeOf(notice) +
  (link ? `<p><a href="${escaped(link.href)}">${escaped(link.text)}</a></p>\n` : '')
