import { useSignal } from '@preact/signals'
import { useLoaded } from '../../parts/ask.ts'
import { bound } from '../../parts/form.ts'
import { asOperator } from '../../parts/operator-token.tsx'
import { Table } from '../../parts/table.tsx'

interface Setting {
  key: string
  value: string
  source: string
  description: string
}

/** Every setting in force and where it comes from. */
export function Settings() {
  const answer = useLoaded('settings', () =>
    asOperator<{ data: { settings: Setting[] } }>('/admin/v1/settings'),
  )
  const typed = useSignal('')
  const onlyOwn = useSignal(false)
  const part = typed.value.toLowerCase()
  const rows = answer.data?.data.settings
    .filter(({ source }) => !onlyOwn.value || source !== 'default')
    .filter(({ key, description }) => `${key} ${description}`.toLowerCase().includes(part))
  return (
    <Table
      caption="Settings"
      of={answer}
      rows={rows}
      keyOf={({ key }) => key}
      empty="No matching settings."
      note="Secrets are masked. Change settings in the configuration file, by environment variable or by flag; changes take effect at the next start."
      isTall
      actions={
        <>
          <label>
            Search
            <input type="search" {...bound(typed)} />
          </label>
          <button
            type="button"
            aria-pressed={onlyOwn.value}
            onClick={() => {
              onlyOwn.value = !onlyOwn.value
            }}
          >
            Only what was set
          </button>
        </>
      }
      columns={[
        {
          name: 'Setting',
          value: ({ key }) => key,
          show: ({ key, description }) => (
            <>
              <code>{key}</code>
              <div class="quiet small">{description}</div>
            </>
          ),
        },
        { name: 'Value', className: 'break', value: ({ value }) => value },
        { name: 'From', isWide: true, value: ({ source }) => source },
      ]}
    />
  )
}
