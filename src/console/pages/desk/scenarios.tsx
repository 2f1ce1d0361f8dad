import { useSignal } from '@preact/signals'
import type {
  Scenario as PlayableScenario,
  Played as PlayedScenario,
} from '../../../http/dev-controls.ts'
import { Notice, Refused, Shown } from '../../parts/bits.tsx'
import { Input } from '../../parts/fields.tsx'
import { asOperator, useOperator } from '../../parts/person/operator-token.tsx'
import { useAttempt } from '../../parts/requests/ask.ts'
import { fieldsOf, submits } from '../../parts/text/form.ts'
import { words } from '../../parts/text/format.ts'
import { lookAtClock } from './clock.tsx'

type Scenario = Omit<PlayableScenario, 'play'>

interface Played extends PlayedScenario {
  scenario: string
}

const titles: Readonly<Record<string, string>> = {
  'negative-wti': 'Negative WTI',
  'quota-edge': 'Quota almost used up',
  dst: 'Hour before a clock change',
  'clock-change': 'Day before a clock change',
  'negative-sunday': 'Negative Sunday',
}
const titleOf = (name: string): string => titles[name] ?? words(name.replaceAll('-', '_'))

const optionForms: Record<Scenario['options'][number], { label: string; placeholder: string }> = {
  code: { label: 'Code', placeholder: 'US_CRUDE_STORAGE' },
  remaining: { label: 'Requests left', placeholder: '1' },
  zone: { label: 'Zone', placeholder: 'America/New_York' },
}

/** Situations that a client must handle; each can be inspected after it was played. */
export function Scenarios() {
  const answer = useOperator<{ scenarios: Scenario[] }>('/_dev/scenario')
  const played = useSignal<Played | undefined>(undefined)
  const playing = useSignal('')
  const { refusal, attempt } = useAttempt()
  const play = async (name: string, options: Record<string, unknown>) => {
    playing.value = name
    await attempt(async () => {
      played.value = undefined
      const body = { name, ...options }
      played.value = await asOperator<Played>('/_dev/scenario', { method: 'POST', body })
    })
    lookAtClock()
    playing.value = ''
  }
  return (
    <section class="stack" aria-labelledby="scenarios">
      <h2 id="scenarios">Scenarios</h2>
      {refusal.value && <Refused error={refusal.value} />}
      {played.value && <Outcome {...played.value} />}
      <Shown of={answer} what="scenarios">
        {({ scenarios }) => (
          <ul class="plain cards">
            {scenarios.map(scenario => (
              <li class="card" key={scenario.name}>
                <h3>{titleOf(scenario.name)}</h3>
                <p class="quiet small grow">{scenario.description}</p>
                <Play {...scenario} isPlaying={playing.value === scenario.name} play={play} />
              </li>
            ))}
          </ul>
        )}
      </Shown>
    </section>
  )
}

function Play({
  name,
  options,
  isPlaying,
  play,
}: Scenario & {
  isPlaying: boolean
  play: (name: string, options: Record<string, unknown>) => Promise<void>
}) {
  const submit = (form: HTMLFormElement) => {
    const field = fieldsOf(form)
    const given = options.filter(option => field(option) !== '')
    const written = (option: string) =>
      option === 'remaining' ? Number(field(option)) : field(option)
    return play(name, Object.fromEntries(given.map(option => [option, written(option)])))
  }
  return (
    <form class="row end" onSubmit={submits(submit)}>
      {options.map(option => (
        <Input key={option} labelClass="grow" name={option} {...optionForms[option]} />
      ))}
      <button type="submit" aria-label={`Play ${name}`} aria-disabled={isPlaying}>
        {isPlaying ? 'Playing …' : 'Play'}
      </button>
    </form>
  )
}

/** The result of a scenario, its consequences and its details. */
function Outcome({ scenario, done, after, details }: Played) {
  return (
    <Notice mood="good">
      <div class="stack">
        <p>
          <strong>{titleOf(scenario)}:</strong> {done}
        </p>
        <p>{after}</p>
        <details>
          <summary>Details</summary>
          <pre class="wrap">{JSON.stringify(details, null, 1)}</pre>
        </details>
      </div>
    </Notice>
  )
}
