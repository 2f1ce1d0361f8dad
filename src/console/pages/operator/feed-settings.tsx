import type { FeedShape as Feed } from '../../../topics/operator/operations/data/feeds.ts'
import { Button } from '../../parts/buttons.tsx'
import { Input, Submit } from '../../parts/fields.tsx'
import { useOpened } from '../../parts/focus.ts'
import { fieldsOf, submits } from '../../parts/text/form.ts'

interface Props {
  feed: Feed
  /** Called with the form's values, for `PUT /admin/v1/feeds/NAME`. */
  onPut: (setting: Record<string, unknown>) => void
  onCancel: () => void
}

/** Turns a feed on and edits its settings; empty fields keep the default. */
export function FeedSettings({ feed, onPut, onCancel }: Props) {
  const settingOf = (form: HTMLFormElement) => {
    const field = fieldsOf(form)
    return {
      ...(field('key') && { key: field('key') }),
      ...(field('since') && { since: field('since') }),
      ...(field('base_url') && { base_url: field('base_url') }),
      ...(field('license') !== '' && { license: 'accept' }),
    }
  }
  return (
    <form
      class="card"
      ref={useOpened()}
      aria-labelledby="feed"
      onSubmit={submits(form => {
        onPut(settingOf(form))
      })}
    >
      <h2 id="feed">{feed.title}</h2>
      <p class="quiet small">
        {feed.attribution}.{' '}
        <a href={feed.homepage} target="_blank" rel="noreferrer">
          {feed.homepage}
        </a>
      </p>
      <div class="row end">
        <Input
          label="Publisher’s API key (if it needs one)"
          name="key"
          type="password"
          autocomplete="off"
          maxLength={2000}
        />
        <Input label="Since (empty for all history)" name="since" type="date" />
        <Input
          label="Mirror address (optional)"
          name="base_url"
          type="url"
          placeholder="https://mirror.example"
        />
        {feed.license_class === 'view' && (
          <label class="inline">
            <input name="license" type="checkbox" /> I have read and accept the terms
          </label>
        )}
      </div>
      <div class="row">
        <Submit>{feed.state === 'off' ? 'Enable' : 'Save'}</Submit>
        <Button label="Cancel" onClick={onCancel} />
      </div>
    </form>
  )
}
