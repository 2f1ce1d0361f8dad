import { useSignal } from '@preact/signals'
import { useLocation } from 'preact-iso'
import { Refused, Result, ShownOnce } from '../parts/bits.tsx'
import { Button } from '../parts/buttons.tsx'
import { Input, Submit } from '../parts/fields.tsx'
import { Page } from '../parts/page.tsx'
import { ask, dataOf, useAttempt } from '../parts/requests/ask.ts'
import { boot } from '../parts/requests/boot.ts'
import { Samples } from '../parts/samples.tsx'
import { bound, submits } from '../parts/text/form.ts'

/** The page that every 401 response links to: how to get a key. */
export function Signup() {
  const { query } = useLocation()
  if (query.token) return <Confirm token={query.token} />
  return (
    <Page
      title="Get a key"
      about={
        <>
          {abouts[boot.signup]} Already have an account?{' '}
          <a href="/sign-in?next=/account">Sign in and create a key</a>
        </>
      }
    >
      <div class="columns">
        {boot.signup === 'open' && <AddressForm />}
        {(boot.isEvaluation || boot.signup !== 'open') && <OtherWay />}
      </div>
      <section class="card" aria-labelledby="without">
        <h2 id="without">Without a key</h2>
        <p>A few prices need no key, within an hourly limit.</p>
        <Samples call={{ method: 'GET', path: '/v1/demo/prices', isOpen: true }} />
      </section>
    </Page>
  )
}

const abouts = {
  company: 'API keys are for people of the company.',
  closed: 'API keys are issued by your administrator.',
  invite: 'Sign-up is by invitation.',
  open: 'A free account needs only an e-mail address.',
} as const

/** How to get a key without the form. */
function OtherWay() {
  const [title, text] = boot.isEvaluation
    ? [
        'This is a demo instance',
        <>
          It printed an API key and a sign-in link when it started. The keys are in{' '}
          <code>evaluation-keys.json</code> in its data directory. E-mails are not sent; they appear
          in the <a href="/desk/inbox">inbox</a>.
        </>,
      ]
    : boot.signup === 'company'
      ? [
          'Sign in with your company account',
          <>
            Your account is created when you <a href="/sign-in?next=/account">sign in</a>. Then
            create a key under Account.
          </>,
        ]
      : [
          'Ask the operator',
          <>
            The operator <a href="/docs/customers">creates your account</a> and sends you a key or a
            link to sign in. A colleague who has an account can invite you to their organization.
          </>,
        ]
  return (
    <section class="card">
      <h2>{title}</h2>
      <p>{text}</p>
    </section>
  )
}

function AddressForm() {
  const email = useSignal('')
  const { attempt, ...outcome } = useAttempt()
  const send = () =>
    attempt(async () => {
      const { message } = await ask<{ message: string }>('/v1/auth/signup', {
        method: 'POST',
        body: { email: email.value },
      })
      if (!boot.reaches.email) return message
      return `An e-mail to ${email.value} has been sent. Open its link within 24 hours.`
    })
  return (
    <section class="card" aria-labelledby="make">
      <h2 id="make">Create an account</h2>
      <Result {...outcome} />
      <p>You get a link by e-mail. It opens your account and shows your first key.</p>
      <form class="row end" onSubmit={submits(() => send())}>
        <Input
          label="E-mail address"
          labelClass="grow"
          type="email"
          autocomplete="email"
          required
          maxLength={254}
          {...bound(email)}
        />
        <Submit>Send me a link</Submit>
      </form>
    </section>
  )
}

interface NewAccount {
  email: string
  plan: string
  api_key: string
  link_token: string
}

/** Asks for a press of its button, so that a scanner of letters that opens links makes nothing. */
function Confirm({ token }: { token: string }) {
  const newAccount = useSignal<NewAccount | undefined>(undefined)
  const { refusal, attempt } = useAttempt()
  const make = () =>
    attempt(async () => {
      newAccount.value = await dataOf<NewAccount>('/v1/auth/signup/confirm', {
        method: 'POST',
        body: { token },
      })
    })
  const account = newAccount.value
  if (account)
    return (
      <Page title="Your account is ready" about={`${account.email}, on the ${account.plan} plan.`}>
        <ShownOnce what="Your first key, shown once:" secret={account.api_key} />
        <form method="post" action="/sign-in">
          <input type="hidden" name="token" value={account.link_token} />
          <input type="hidden" name="next" value="/board" />
          <Submit>Open your watchlist</Submit>
        </form>
      </Page>
    )
  return (
    <Page title="Create your account" about="This link confirms your address.">
      {refusal.value && (
        <>
          <Refused error={refusal.value} />
          <p>
            <a href="/signup">Send a new e-mail</a>
          </p>
        </>
      )}
      <div class="row">
        <Button className="main" label="Create account" onClick={() => make()} />
      </div>
    </Page>
  )
}
