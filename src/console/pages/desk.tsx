import { Page } from '../parts/page.tsx'
import { Operators } from '../parts/person/operator-token.tsx'
import { boot } from '../parts/requests/boot.ts'
import { Tabs, useTitle, type Views } from '../parts/tabs.tsx'
import { Clock } from './desk/clock.tsx'
import { Deliveries } from './desk/deliveries.tsx'
import { Faults } from './desk/faults.tsx'
import { Inbox } from './desk/inbox.tsx'
import { Requests } from './desk/requests.tsx'
import { Scenarios } from './desk/scenarios.tsx'
import { Snapshots } from './desk/snapshots.tsx'

const views: Views<'desk'> = {
  '': ScenariosPart,
  requests: Requests,
  inbox: Inbox,
  deliveries: Deliveries,
}

function ScenariosPart() {
  return (
    <>
      <Scenarios />
      <div class="columns">
        <Faults />
        <Snapshots />
      </div>
    </>
  )
}

/**
 * The tools of a demo instance: a clock that can be moved, faults and scenarios, and logs of
 * requests and messages.
 */
export function Desk() {
  const title = useTitle('desk')
  if (!boot.isEvaluation)
    return (
      <Page title="Desk">
        <p>
          These controls exist only in a demo instance: <code>wellhead dev</code>.
        </p>
      </Page>
    )
  return (
    <Operators title="Desk">
      {() => (
        <Page
          title={title}
          about="Controls of this demo instance. E-mails and text messages are captured, never sent."
        >
          <Clock />
          <Tabs page="desk" views={views} />
        </Page>
      )}
    </Operators>
  )
}
