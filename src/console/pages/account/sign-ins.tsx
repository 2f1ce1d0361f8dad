import type { SignInRow } from '../../../topics/account/operations/session-list.ts'
import { Tag } from '../../parts/bits.tsx'
import { Button, Confirmed } from '../../parts/buttons.tsx'
import { useChange, useData } from '../../parts/requests/ask.ts'
import { actions } from '../../parts/tables/columns.tsx'
import { Table } from '../../parts/tables/table.tsx'
import { instant } from '../../parts/text/format.ts'

/** Where the account is signed in, and signing out there. */
export function SignIns() {
  const answer = useData<{ sessions: SignInRow[] }>('/v1/auth/sessions')
  const { change, ...outcome } = useChange(answer)
  const rows = answer.data?.sessions
  return (
    <Table
      outcome={outcome}
      caption="Open sessions"
      file="sign-ins"
      of={answer}
      rows={rows}
      empty="No sessions. Sign in again to see this list."
      note="If you do not recognize a session, end it and set a new password under Password and sign-out."
      actions={
        rows && rows.length > 1 ? (
          <Confirmed
            label="End all others"
            question="End all other sessions of this account? API keys keep working."
            onConfirm={() => change('/v1/auth/sessions', 'DELETE')}
          />
        ) : undefined
      }
      columns={({ column }) => [
        column('Signed in', 'begun_at', {
          fileName: 'begun_at',
          show: ({ begun_at, current }) => (
            <>
              {instant(begun_at)} {current && <Tag mood="good">This session</Tag>}
            </>
          ),
        }),
        column('Method', ({ method }) => (method === 'link' ? 'Link' : 'Password')),
        column('Last renewed', 'refreshed_at', { isWide: true, write: instant }),
        column('Ends', 'expires_at', { isWide: true, write: instant }),
        {
          ...actions,
          show: ({ id, begun_at, current }) =>
            !current && (
              <Button
                className="tight danger"
                label="End"
                of={instant(begun_at)}
                onClick={() => change(`/v1/auth/sessions/${id}`, 'DELETE')}
              />
            ),
        },
      ]}
    />
  )
}
