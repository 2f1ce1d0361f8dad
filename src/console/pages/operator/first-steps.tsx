import { operatorEmail } from '../../../plans/roles/roles.ts'
import type { Settings } from '../../../topics/operator/operations/system/settings.ts'
import { asOperator } from '../../parts/person/operator-token.tsx'
import { useLoaded } from '../../parts/requests/ask.ts'

interface Step {
  text: string
  href: string
  isDone: boolean
}

/**
 * The steps that a new instance still needs before customers can rely on it; empty once it has all.
 */
export function FirstSteps({ hasData, hasBackup }: { hasData: boolean; hasBackup: boolean }) {
  const answer = useLoaded('first steps', async signal => {
    const [settings, accounts] = await Promise.all([
      asOperator<Settings>('/admin/v1/settings', { signal }),
      asOperator<{ data: { accounts: { email: string }[] } }>('/admin/v1/accounts?per_page=2', {
        signal,
      }),
    ])
    return { settings: settings.data.settings, accounts: accounts.data.accounts }
  })
  if (!answer.data) return null
  const { settings, accounts } = answer.data
  const settingOf = (key: string) => settings.find(setting => setting.key === key)?.value ?? ''
  const steps: Step[] = [
    { text: 'Enable a feed or import a file', href: '/operator/feeds', isDone: hasData },
    {
      text: 'Set the public HTTPS address (server.base_url)',
      href: '/docs/production',
      isDone: settingOf('server.base_url').startsWith('https://'),
    },
    {
      text: 'Set up e-mail (mail.provider)',
      href: '/operator/system',
      isDone: !['', 'none'].includes(settingOf('mail.provider')),
    },
    { text: 'Create the first backup', href: '/operator/backups', isDone: hasBackup },
    {
      text: 'Create the first customer',
      href: '/operator/people',
      isDone: accounts.some(({ email }) => email !== operatorEmail),
    },
  ]
  if (steps.every(({ isDone }) => isDone)) return null
  return (
    <section class="card" aria-labelledby="first-steps">
      <h2 id="first-steps">First steps</h2>
      <ul class="plain steps">
        {steps.map(({ text, href, isDone }) => (
          <li key={text} class={isDone ? 'quiet' : ''}>
            <span aria-hidden="true">{isDone ? '✓' : '○'}</span>{' '}
            {isDone ? (
              <>
                {text}
                <span class="only-heard">, done</span>
              </>
            ) : (
              <a href={href}>{text}</a>
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}
