import { Input } from '../../parts/fields.tsx'
import { keepKey, ownKey } from '../../parts/person/own-key.ts'

/** The key that all samples are shown with and trial calls are made with. */
export const OwnKey = ({ label }: { label: string }) => (
  <Input
    label={label}
    type="password"
    autocomplete="off"
    spellcheck={false}
    placeholder="kept in this tab only"
    value={ownKey.value}
    onInput={event => keepKey(event.currentTarget.value)}
  />
)
