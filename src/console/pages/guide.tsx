import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { filled, type Guide, type GuideSample, sampleKey } from '../guides/guide.ts'
import { Choice, Copy } from '../parts/bits.tsx'
import { ownKey } from '../parts/own-key.ts'

const names: Record<string, string> = {
  sh: 'Shell',
  python: 'Python',
  ts: 'TypeScript',
  go: 'Go',
  php: 'PHP',
  json: 'Answer',
  toml: 'wellhead.toml',
}
const nameOf = (language: string): string => names[language] ?? language

/** Chosen once for every sample of every guide. */
const chosen = signal('sh')

/** The same thing in several languages, one of them shown, with the reader's address and key. */
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
            onChoose={language => {
              chosen.value = language
            }}
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

/** One guide, with the way to its neighbours. */
export function GuideText({ guide, all }: { guide: Guide; all: readonly Guide[] }) {
  const place = all.indexOf(guide)
  const [previous, next] = [all[place - 1], all[place + 1]]
  // The place that the address names is there only now.
  useEffect(() => {
    if (location.hash !== '') document.getElementById(location.hash.slice(1))?.scrollIntoView()
  }, [guide])
  return (
    <article class="stack content">
      {guide.headings.length > 2 && (
        <nav class="contents" aria-label="On this page">
          {guide.headings.map(({ id, text }) => (
            <a href={`#${id}`} key={id}>
              {text}
            </a>
          ))}
        </nav>
      )}
      {guide.parts.map((part, i) =>
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
      <nav class="row spread neighbours" aria-label="Next guides">
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
