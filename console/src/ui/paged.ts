import { type InfiniteData, keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useCallback } from 'react';

interface Page<Item> {
  items: Item[];
  total: number;
}

interface Paged<Item> {
  data: Item[] | undefined;
  total: number | undefined;
  error: unknown;
  refetch: () => void;
  /** Requests the next page, if there is one and none is being read. */
  more: () => void;
}

interface NextPage {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  fetchNextPage: () => Promise<unknown>;
}

/** Returns a function that requests the next page of a query, if there is one and none is being read. */
export function useMore({ hasNextPage, isFetchingNextPage, fetchNextPage }: NextPage): () => void {
  return useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
}

/** The rows of all pages, for `select` of a query: it is called when the pages change, not when a view is drawn. */
export const rowsOf = <Row>({ pages }: InfiniteData<Row[]>): Row[] => pages.flat();

const itemsOf = <Item>({ pages }: InfiniteData<Page<Item>>): { rows: Item[]; total: number | undefined } => ({
  rows: pages.flatMap(({ items }) => items),
  total: pages.at(-1)?.total,
});

/**
 * A list that is read page by page as it is scrolled. `read` gets the offset of the page; `refetchMs` repeats what is loaded.
 */
export function usePaged<Item>(
  queryKey: unknown[],
  read: (offset: number) => Promise<Page<Item>>,
  { refetchMs }: { refetchMs?: number } = {},
): Paged<Item> {
  const query = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam }) => read(pageParam),
    initialPageParam: 0,
    getNextPageParam: (last, pages) => {
      const loaded = pages.reduce((sum, { items }) => sum + items.length, 0);
      return last.items.length > 0 && loaded < last.total ? loaded : undefined;
    },
    placeholderData: keepPreviousData,
    select: itemsOf<Item>,
    ...(refetchMs !== undefined && { refetchInterval: refetchMs }),
  });
  return {
    data: query.data?.rows,
    total: query.data?.total,
    error: query.error,
    refetch: () => void query.refetch(),
    more: useMore(query),
  };
}
