import { Members, Page } from '../parts/page.tsx'
import { Tabs, useTitle, type Views } from '../parts/tabs.tsx'
import { Display } from './account/display.tsx'
import { Keys } from './account/keys.tsx'
import { Members as OwnMembers } from './account/members.tsx'
import { Notifications } from './account/notifications.tsx'
import { Plan } from './account/plan.tsx'
import { Requests } from './account/requests.tsx'
import { SignIns } from './account/sign-ins.tsx'
import { Sources } from './account/sources.tsx'
import { UsagePart } from './account/usage.tsx'

const views: Views<'account'> = {
  '': Keys,
  usage: UsagePart,
  requests: Requests,
  plan: Plan,
  members: OwnMembers,
  notifications: Notifications,
  display: Display,
  sources: Sources,
  'sign-ins': SignIns,
}

export function Account() {
  const title = useTitle('account')
  return (
    <Members
      title="Account"
      about="Your API keys, usage, plan and invoices, and the members of your organization."
    >
      {() => (
        <Page
          title={title}
          actions={
            <a class="button" href="/sign-in">
              Password and sign-out
            </a>
          }
        >
          <Tabs page="account" views={views} />
        </Page>
      )}
    </Members>
  )
}
