import { useSignal } from '@preact/signals'
import type { Settings as Answer } from '../../../topics/operator/operations/system/settings.ts'
import { Button } from '../../parts/buttons.tsx'
import { useOperator } from '../../parts/person/operator-token.tsx'
import { Table, twoLines } from '../../parts/tables/table.tsx'
import { sets } from '../../parts/text/form.ts'

/** Every setting in force and where it comes from. */
export function Settings() {
  const answer = useOperator<Answer>('/admin/v1/settings')
  const onlyOwn = useSignal(false)
  const rows = answer.data?.data.settings.filter(
    ({ source }) => !onlyOwn.value || source !== 'default',
  )
  return (
    <Table
      caption="Settings"
      of={answer}
      rows={rows}
      empty="No matching settings."
      note="Secrets are masked. Change settings in the configuration file, by environment variable or by flag; changes take effect at the next start."
      isTall
      className="lines"
      actions={
        <Button
          className="tight"
          label="Changed only"
          isPressed={onlyOwn.value}
          onClick={sets(onlyOwn, !onlyOwn.value)}
        />
      }
      columns={({ column }) => [
        column('Setting', 'key', ({ key, description }) =>
          twoLines(<code>{key}</code>, description),
        ),
        column('Description', 'description', { isFileOnly: true }),
        column('Value', 'value', { className: 'break' }),
        column('From', 'source', { isWide: true }),
      ]}
    />
  )
}
