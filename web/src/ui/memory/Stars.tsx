/** How useful the user finds it, from one to five; choosing the same again takes it back. */
export function Stars({ rating, onRate }: { rating: number | null; onRate: (rating: number | null) => void }) {
  return (
    <span className="stars" role="group" aria-label="Your rating">
      {[1, 2, 3, 4, 5].map((value) => (
        <button
          key={value}
          type="button"
          aria-label={value === 1 ? "1 star" : `${value} stars`}
          aria-pressed={rating === value}
          className={rating !== null && value <= rating ? "lit" : undefined}
          onClick={() => onRate(rating === value ? null : value)}
        >
          ★
        </button>
      ))}
    </span>
  );
}
