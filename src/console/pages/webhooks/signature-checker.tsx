import { useSignal } from '@preact/signals'
import { Notice } from '../../parts/bits.tsx'
import { Input } from '../../parts/fields.tsx'
import { fieldsOf, submits } from '../../parts/text/form.ts'

const hexOf = (bytes: ArrayBuffer): string =>
  [...new Uint8Array(bytes)].map(byte => byte.toString(16).padStart(2, '0')).join('')

/** Lower-case hex HMAC-SHA256 of a text. Throws where the browser has no cryptography. */
async function hmac(secret: string, text: string): Promise<string> {
  if (!crypto.subtle)
    throw new Error('Browsers compute signatures over HTTPS and on localhost only.')
  const bytes = new TextEncoder()
  const key = await crypto.subtle.importKey(
    'raw',
    bytes.encode(secret),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['sign'],
  )
  return hexOf(await crypto.subtle.sign('HMAC', key, bytes.encode(text)))
}

/** Says whether a request that was received is signed with a secret. Nothing leaves the page. */
export function SignatureChecker() {
  const verdict = useSignal<{ mood: 'good' | 'bad'; text: string } | undefined>(undefined)
  const check = async (form: HTMLFormElement) => {
    const field = fieldsOf(form)
    const secret = field('secret')
    const timestamp = field('timestamp')
    // A form sends line ends as CR LF; bodies of the service have none.
    const body = String(new FormData(form).get('body')).replaceAll('\r\n', '\n')
    const signature = field('signature').toLowerCase()
    try {
      const wanted =
        timestamp === ''
          ? `sha256=${await hmac(secret, body)}`
          : await hmac(secret, `${body}.${timestamp}`)
      verdict.value =
        signature === wanted
          ? { mood: 'good', text: 'The request is signed with this secret.' }
          : {
              mood: 'bad',
              text: `The signature must be ${wanted} for this secret and body.`,
            }
    } catch (error) {
      verdict.value = { mood: 'bad', text: (error as Error).message }
    }
  }
  return (
    <details class="card">
      <summary>Check a signature</summary>
      <form class="stack" aria-label="Check a signature" onSubmit={submits(check)}>
        <p class="quiet small">
          The check runs in your browser. The secret and the body are not sent anywhere.
        </p>
        <div class="row end">
          <Input label="Secret" name="secret" type="password" autocomplete="off" required />
          <Input
            label="Timestamp header (empty if there is none)"
            name="timestamp"
            inputMode="numeric"
            autocomplete="off"
          />
          <Input label="Signature header" name="signature" autocomplete="off" required />
        </div>
        <label>
          Received body
          <textarea name="body" rows={4} required />
        </label>
        {verdict.value && <Notice mood={verdict.value.mood}>{verdict.value.text}</Notice>}
        <div class="row">
          <button type="submit">Check</button>
        </div>
      </form>
    </details>
  )
}
