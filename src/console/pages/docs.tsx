import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { useLocation, useRoute } from 'preact-iso'
import { withParametersInPlace } from '../../http/openapi/parameters.ts'
import { once } from '../../lib/once.ts'
import { Refused, Shown, Waiting } from '../parts/bits.tsx'
import { Button } from '../parts/buttons.tsx'
import { loadCalls } from '../parts/frame/calls.ts'
import { Page } from '../parts/page.tsx'
import { ask, useAttempt, useLoaded } from '../parts/requests/ask.ts'
import { loadGuides, loadGuideWords } from '../parts/requests/guides.ts'
import { save } from '../parts/save.ts'
import { operationPath } from '../paths.ts'
import { brunoCollection, type Collection, postmanCollection } from './docs/collections.ts'
import type { OpenApi } from './docs/document.ts'
import { Reference } from './docs/reference.tsx'
import { Sidebar } from './docs/sidebar.tsx'
import { GuideText } from './guide.tsx'

const loadDocument = once(async () => withParametersInPlace(await ask<OpenApi>('/openapi.json')))

/** Guides, and the reference made from the document that programs read. */
export function Docs() {
  const { params } = useRoute()
  const loaded = useLoaded('guides', loadGuides)
  const guide = loaded.data?.find(({ name }) => name === params.guide)
  const typed = useSignal('')
  const isSearching = typed.value.trim() !== ''
  const { url, query } = useLocation()
  const id = query.operation ?? ''
  const part = useLoaded(
    params.guide === undefined ? `operation ${id}` : undefined,
    async signal => ({
      of: id,
      document: withParametersInPlace(await ask<OpenApi>(operationPath(id), { signal })),
    }),
  )
  useLoaded(params.guide === undefined ? 'calls' : undefined, loadCalls)
  // Only a search reads every description, which are most of the document.
  const document = useLoaded(isSearching ? 'document' : undefined, loadDocument)
  const found = useLoaded(isSearching ? 'words' : undefined, loadGuideWords)
  // After following a search result, the next page shows the whole list again.
  useEffect(() => {
    typed.value = ''
  }, [url])
  return (
    <Page
      key={params.guide ?? ''}
      title={guide?.title ?? 'Documentation'}
      about={
        guide ? (
          <span dangerouslySetInnerHTML={{ __html: guide.about }} />
        ) : (
          <>
            Tutorials, how-to guides, explanations, and the reference of every operation from{' '}
            <a href="/openapi.json" rel="external">
              openapi.json
            </a>
            , also{' '}
            <a href="/swagger" rel="external">
              as Swagger UI
            </a>{' '}
            and for <Download make={postmanCollection} text="Postman" /> and{' '}
            <Download make={brunoCollection} text="Bruno" />.
          </>
        )
      }
    >
      {[found, document].map(
        ({ refusal }) => refusal && <Refused key={refusal.message} error={refusal} />,
      )}
      <div class="reference">
        <Sidebar
          document={document.data}
          guides={loaded.data ?? []}
          guide={params.guide}
          typed={typed}
        />
        {params.guide === undefined ? (
          <div class="stack content">
            <Shown of={part} what="the reference">
              {({ of, document: known }) =>
                of === id ? <Reference document={known} /> : <Waiting what="the reference" />
              }
            </Shown>
          </div>
        ) : (
          <Shown of={loaded} what="the page">
            {all =>
              guide ? (
                <GuideText key={guide.name} guide={guide} all={all} />
              ) : (
                <p>
                  This page does not exist. See the{' '}
                  <a href="/docs/index">index of the documentation</a>.
                </p>
              )
            }
          </Shown>
        )}
      </div>
    </Page>
  )
}

/** Saves the document as the collection of a program that sends requests. */
function Download({
  make,
  text,
}: {
  make: (document: OpenApi, baseUrl: string) => Collection
  text: string
}) {
  const { refusal, attempt } = useAttempt()
  return (
    <>
      <Button
        className="link"
        label={text}
        onClick={() =>
          attempt(async () => {
            const file = make(await loadDocument(), location.origin)
            save(file.name, 'application/json', file.text)
          })
        }
      />
      {refusal.value && <Refused error={refusal.value} />}
    </>
  )
}
