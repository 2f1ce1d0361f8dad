import { Button } from '../parts/buttons.tsx'
import { Page } from '../parts/page.tsx'
import { forget, Operators, token } from '../parts/person/operator-token.tsx'
import { Tabs, useTitle, type Views } from '../parts/tabs.tsx'
import { Audit } from './operator/audit.tsx'
import { Backups } from './operator/backups.tsx'
import { Cluster } from './operator/cluster.tsx'
import { Data } from './operator/data.tsx'
import { Feeds } from './operator/feeds.tsx'
import { Logs } from './operator/logs.tsx'
import { Overview } from './operator/overview.tsx'
import { People } from './operator/people.tsx'
import { SeriesEditor } from './operator/series-editor.tsx'
import { Messages, System } from './operator/system.tsx'

const views: Views<'operator'> = {
  '': Overview,
  feeds: Feeds,
  data: Data,
  series: SeriesEditor,
  people: People,
  outbox: Messages,
  backups: Backups,
  copies: Cluster,
  logs: Logs,
  audit: Audit,
  system: System,
}

/** The pages of the operator. */
export function Operator() {
  const title = useTitle('operator')
  return (
    <Operators title="Operator">
      {() => (
        <Page
          title={title}
          actions={
            token.value !== undefined && (
              <Button label="Sign out of the operator view" onClick={forget} />
            )
          }
        >
          <Tabs page="operator" views={views} />
        </Page>
      )}
    </Operators>
  )
}
