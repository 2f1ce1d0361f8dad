import type { ComponentType } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { useRoute } from 'preact-iso'
import type { PageWithParts, pageParts } from '../paths.ts'

/** A part of a page; the first one has the address of the page itself. */
export interface Tab<Page extends PageWithParts = PageWithParts> {
  /** The last segment of its address; empty: the page's own. */
  part: '' | (typeof pageParts)[Page][number]
  text: string
  View: ComponentType
}

/** The heading of a page: the name of the part that the address names, of the first part its own. */
export function useTitle(name: string, tabs: readonly Tab[]): string {
  const { part = '' } = useRoute().params
  return (part !== '' && tabs.find(tab => tab.part === part)?.text) || name
}

/** The tabs of a page, and the part that the address names. */
export function Tabs({ label, path, tabs }: { label: string; path: string; tabs: readonly Tab[] }) {
  const { params } = useRoute()
  const part = params.part ?? ''
  const list = useRef<HTMLElement>(null)
  useEffect(() => {
    const current = list.current?.querySelector('[aria-current]')
    current?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [part])
  const current = tabs.find(tab => tab.part === part)
  return (
    <>
      <nav class="tabs paged" aria-label={label} ref={list}>
        {tabs.map(tab => (
          <a
            key={tab.part}
            href={tab.part === '' ? path : `${path}/${tab.part}`}
            aria-current={tab.part === part ? 'page' : undefined}
          >
            {tab.text}
          </a>
        ))}
      </nav>
      {current ? (
        <current.View />
      ) : (
        <p>
          {label} has no section called <code>{part}</code>. Choose another one in the navigation.
        </p>
      )}
    </>
  )
}
