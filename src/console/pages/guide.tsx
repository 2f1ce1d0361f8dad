import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { filled, type Guide, type GuidePart, type GuideSample, sampleKey } from '../guides/guide.ts'
import { Shown } from '../parts/bits.tsx'
import { Copy } from '../parts/buttons.tsx'
import { Choice } from '../parts/fields.tsx'
import { ownKey } from '../parts/person/own-key.ts'
import { useLoaded } from '../parts/requests/ask.ts'
import { loadGuideParts } from '../parts/requests/guides.ts'
import { takes } from '../parts/text/form.ts'

const names: Record<string, string> = {
  sh: 'Shell',
  python: 'Python',
  ts: 'TypeScript',
  go: 'Go',
  php: 'PHP',
  json: 'Response',
  toml: 'wellhead.toml',
  yaml: 'YAML',
  csv: 'CSV',
  ini: 'Unit',
  nginx: 'nginx.conf',
  caddyfile: 'Caddyfile',
  cron: 'cron',
  excel: 'Excel',
  sql: 'SQL',
  text: '',
}
const nameOf = (language: string): string => names[language] ?? language

/** Chosen once for every sample of every guide. */
const chosen = signal('sh')

/** One sample in several languages, one of them shown, with the reader's address and key. */
function GuideSamples({ samples }: { samples: GuideSample[] }) {
  const shown = samples.find(({ language }) => language === chosen.value) ?? samples[0]!
  const text = filled(shown.text, location.origin, ownKey.value || sampleKey)
  return (
    <div class="sample">
      <div class="row spread">
        {samples.length > 1 ? (
          <Choice
            label="Language of the sample"
            value={shown.language}
            options={samples.map(({ language }) => ({ value: language, text: nameOf(language) }))}
            onChoose={takes(chosen)}
          />
        ) : (
          <span class="quiet small">{nameOf(shown.language)}</span>
        )}
        {shown.language !== 'json' && <Copy text={text} className="tight" />}
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a wide sample is scrolled by keyboard */}
      <pre tabIndex={0}>{text}</pre>
    </div>
  )
}

/** One page of the documentation, with links to its neighbours. */
export function GuideText({ guide, all }: { guide: Guide; all: readonly Guide[] }) {
  const parts = useLoaded(guide.body, signal => loadGuideParts(guide, signal))
  const place = all.indexOf(guide)
  const [previous, next] = [all[place - 1], all[place + 1]]
  return (
    <article class="stack content">
      {guide.headings.length > 2 && guide.headings.length <= headingsMax && (
        <nav class="contents" aria-label="On this page">
          {guide.headings.map(({ id, text }) => (
            <a href={`#${id}`} key={id}>
              {text}
            </a>
          ))}
        </nav>
      )}
      <Shown of={parts} what="the page">
        {data => <GuideParts parts={data} />}
      </Shown>
      <nav class="row spread neighbours" aria-label="Next pages">
        {previous ? (
          <a href={`/docs/${previous.name}`} rel="prev">
            ← {previous.title}
          </a>
        ) : (
          <span />
        )}
        {next && (
          <a href={`/docs/${next.name}`} rel="next">
            {next.title} →
          </a>
        )}
      </nav>
    </article>
  )
}

/** A longer list of headings would push the text off the first screen. */
const headingsMax = 30

function GuideParts({ parts }: { parts: readonly GuidePart[] }) {
  // The heading that the address names exists only now.
  useEffect(() => {
    if (location.hash !== '') document.getElementById(location.hash.slice(1))?.scrollIntoView()
  }, [parts])
  return (
    <>
      {parts.map((part, i) =>
        'samples' in part ? (
          <GuideSamples key={String(i)} samples={part.samples} />
        ) : (
          <div
            key={String(i)}
            class="prose guide"
            dangerouslySetInnerHTML={{ __html: part.html }}
          />
        ),
      )}
    </>
  )
}
