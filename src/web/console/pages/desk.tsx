import { useRoute } from 'preact-iso'
import { Page } from '../parts/bits.tsx'
import { boot } from '../parts/boot.ts'
import { Operators } from '../parts/operator-token.tsx'
import { Clock } from './desk/clock.tsx'
import { Deliveries } from './desk/deliveries.tsx'
import { Faults } from './desk/faults.tsx'
import { Inbox } from './desk/inbox.tsx'
import { Requests } from './desk/requests.tsx'
import { Scenarios } from './desk/scenarios.tsx'
import { Snapshots } from './desk/snapshots.tsx'

const tabs = [
  { value: '', href: '/desk', text: 'Scenarios' },
  { value: 'requests', href: '/desk/requests', text: 'Requests' },
  { value: 'inbox', href: '/desk/inbox', text: 'Inbox' },
  { value: 'deliveries', href: '/desk/deliveries', text: 'Deliveries' },
] as const

/**
 * What only an evaluation copy has: a clock that moves, faults and scenarios, and all that was
 * asked and sent.
 */
export function Desk() {
  const { params } = useRoute()
  const part = params.part ?? ''
  if (!boot.isEvaluation)
    return (
      <Page title="Desk">
        <p>
          Only an evaluation copy has these controls: <code>wellhead dev</code>.
        </p>
      </Page>
    )
  return (
    <Operators title="Desk">
      {() => (
        <Page
          title="Desk"
          about="The controls of this evaluation copy. Letters and text messages stay in it."
        >
          <Clock />
          <nav class="tabs" aria-label="Desk">
            {tabs.map(({ value, href, text }) => (
              <a key={value} href={href} aria-current={value === part ? 'page' : undefined}>
                {text}
              </a>
            ))}
          </nav>
          {part === '' && (
            <>
              <Scenarios />
              <div class="columns">
                <Faults />
                <Snapshots />
              </div>
            </>
          )}
          {part === 'requests' && <Requests />}
          {part === 'inbox' && <Inbox />}
          {part === 'deliveries' && <Deliveries />}
        </Page>
      )}
    </Operators>
  )
}
