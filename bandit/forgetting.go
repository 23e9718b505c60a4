package bandit

import "math"

// Forget lets one step pass after which the mean may be another: with probability hazard in [0,1] it has
// been drawn anew from the prior. The posterior is then a mixture. Forget takes the beta belief
// proportional to posterior^(1−hazard) · prior^hazard in its place, which discounts the counts beyond those of
// the prior (Kulhavý & Zarrop 1993; discounted Thompson sampling, Raj & Kalyani 2017). So a belief
// becomes uncertain again while its arm is not pulled.
func (d *Beta) Forget(hazard float64, prior Beta) {
	d.A += hazard * (prior.A - d.A)
	d.B += hazard * (prior.B - d.B)
}

// Forget is that of Beta: it discounts the precision beyond that of the prior. Precisions are in units of the larger
// of the two, so that none of them is beyond the floats.
func (d *Gaussian) Forget(hazard float64, prior Gaussian) {
	if hazard == 1 { // a prior so wide that its precision counts for nothing holds too
		d.Mu, d.Sigma = prior.Mu, prior.Sigma
		return
	}
	least := min(d.Sigma, prior.Sigma)
	own, first := least/d.Sigma, least/prior.Sigma
	own, first = (1-hazard)*own*own, hazard*first*first
	d.Mu += first / (own + first) * (prior.Mu - d.Mu)
	d.Sigma = least / math.Sqrt(own+first)
}
