import type { Feeds } from '../../../feeds/engine/feeds.ts'
import { answerRow } from '../../../http/answer/row.ts'
import { t } from '../../../http/answer/schema.ts'
import { operation } from '../../../http/operations/operation.ts'

const SourceShape = t.object('Source', {
  publisher: t.String({ examples: ['European Central Bank'] }),
  homepage: t.String({ examples: ['https://www.ecb.europa.eu/'] }),
  license_class: t.oneOf(['open', 'view']),
  attribution: t.String({ examples: ['Source: European Central Bank'] }),
  codes: t.integer('Codes with values from this publisher.', 39),
})

/** The sources of the data of this instance. */
export const sourceOperations = ({ feeds }: { feeds: Pick<Feeds, 'sources'> }) => [
  operation('GET /v1/sources', {
    operationId: 'listSources',
    summary: 'List price sources',
    description:
      'Returns the publishers of imported public data, with their licence class (`open`: redistribution allowed, `view`: display only) and required attribution.',
    tags: ['Catalogue'],
    access: { open: 'Users of the data must be able to name its source.' },
    answers: t.Object({ sources: t.Array(SourceShape) }),
    handle: () => ({
      sources: feeds
        .sources()
        .map(({ feed: { publisher }, codes }) => answerRow(SourceShape, publisher, { codes })),
    }),
  }),
]
