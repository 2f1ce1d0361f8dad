import { Page } from '../parts/bits.tsx'
import { boot } from '../parts/boot.ts'
import { Samples } from '../parts/samples.tsx'

/** How somebody comes to a key: every 401 points here. */
export function Signup() {
  return (
    <Page title="Get a key" about="Who runs this copy hands out its keys.">
      <div class="columns">
        <section class="card">
          <h2>{boot.isEvaluation ? 'This is an evaluation copy' : 'Ask who runs this copy'}</h2>
          {boot.isEvaluation ? (
            <p>
              It printed an API key and a link to sign in when it started. Start it again to see
              both again; the keys lie in <code>evaluation-keys.json</code> of its data directory.
            </p>
          ) : (
            <p>
              There is no sign-up here. The operator makes an account for you and sends you a key or
              a link to sign in; a colleague who has an account here can invite you to their
              organization.
            </p>
          )}
          <p>
            You have an account? <a href="/sign-in?next=/account">Sign in and make a key.</a>
          </p>
        </section>
        <section class="card">
          <h2>For the operator</h2>
          <p>An account with a key, on the machine that runs the service:</p>
          <pre class="wrap">
            wellhead accounts create ann@example.com{'\n'}wellhead accounts link ann@example.com
          </pre>
        </section>
      </div>
      <section class="card" aria-labelledby="without">
        <h2 id="without">Without a key</h2>
        <p>A few prices are answered to everybody, some times an hour.</p>
        <Samples call={{ method: 'GET', path: '/v1/demo/prices', isOpen: true }} />
      </section>
    </Page>
  )
}
