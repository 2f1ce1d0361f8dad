import { useSignal } from '@preact/signals'
import { Result } from '../../parts/bits.tsx'
import { Button, Confirmed } from '../../parts/buttons.tsx'
import { Input } from '../../parts/fields.tsx'
import { asOperator } from '../../parts/person/operator-token.tsx'
import { useAttempt } from '../../parts/requests/ask.ts'
import { bound } from '../../parts/text/form.ts'
import { instant } from '../../parts/text/format.ts'
import { lookAtClock } from './clock.tsx'

/** Saves, restores and resets the whole state. */
export function Snapshots() {
  const name = useSignal('before')
  const { attempt, ...outcome } = useAttempt()
  const send = (what: 'snapshot' | 'restore' | 'reset') =>
    attempt(async () => {
      const answer = await asOperator<{ now: string }>(`/_dev/${what}`, {
        method: 'POST',
        body: what === 'reset' ? {} : { name: name.value },
      })
      lookAtClock()
      const at = instant(answer.now)
      return {
        snapshot: `Saved as ${name.value}, at ${at}.`,
        restore: `Restored ${name.value}, at ${at}.`,
        reset: `Reset, at ${at}.`,
      }[what]
    })
  return (
    <section class="card" aria-labelledby="snapshots">
      <h2 id="snapshots">Snapshots</h2>
      <p class="quiet small">
        A snapshot holds prices, accounts, messages and the clock. Save one before you experiment.
      </p>
      <Result {...outcome} />
      <Input label="Name" {...bound(name)} />
      <div class="row">
        <Button label="Take a snapshot" onClick={() => send('snapshot')} />
        <Button label="Restore" onClick={() => send('restore')} />
        <Confirmed
          label="Reset"
          className="danger"
          question="Undo everything since the first start? Saved snapshots stay."
          onConfirm={() => send('reset')}
        />
      </div>
    </section>
  )
}
